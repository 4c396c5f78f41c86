"""Bytes, damaged."""

import gzip

from tests.fuzz.draw import chance, pick

TOKENS = [
    b"\0", b'"', b"'", b",", b"\t", b";", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\xff",
    b"nan", b"inf", b"-1", b"1e999", b"1e-400", b"9" * 30, b"-0", b"0x10", b"1_0", b"NA", b"null",
    b"#", b"%", b"[" * 2000, b"{" * 50, b"<", b"&lt;", b"]]>", b"=1+1", b" ", b"\xc2\xa0",
    b"\\u0000",
    b"a" * 300, b"\xed\xa0\x80", b"18446744073709551616", b"-2147483649", b"\x1f\x8b",
    b"PK\x03\x04",
]  # fmt: skip


def _place(rng, content):
    return int(rng.integers(0, len(content) + 1))


def flip(rng, content):
    at = int(rng.integers(len(content)))
    return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]


def cut(rng, content):
    return content[: _place(rng, content)]


def remove(rng, content):
    at = _place(rng, content)
    return content[:at] + content[at + int(rng.integers(1, 20)) :]


def repeat(rng, content):
    at = _place(rng, content)
    part = content[at : at + int(rng.integers(1, 60))]
    return content[:at] + part * pick(rng, 2, 3, 50) + content[at:]


def insert(rng, content):
    at = _place(rng, content)
    return content[:at] + pick(rng, *TOKENS) + content[at:]


def insert_in_field(rng, content):
    """Put a token where a field, a word or a number was."""
    words = content.split(pick(rng, b",", b" ", b"\n", b":"))
    glue = content[len(words[0]) : len(words[0]) + 1] or b","
    words[int(rng.integers(len(words)))] = pick(rng, *TOKENS)
    return glue.join(words)


def swap(rng, content):
    a, b = sorted((_place(rng, content), _place(rng, content)))
    return content[b:] + content[a:b] + content[:a]


def long_field(rng, content):
    at = _place(rng, content)
    return content[:at] + pick(rng, b"x", b"9", b" ", b"\0", b'"') * 200_000 + content[at:]


def to_utf16(rng, content):
    return content.decode("latin-1").encode("utf-16")


WAYS = [
    flip,
    flip,
    cut,
    remove,
    remove,
    repeat,
    insert,
    insert,
    insert_in_field,
    insert_in_field,
    swap,
]
SELDOM = [long_field, to_utf16]


def damaged(rng, content):
    """Return bytes with a few things wrong."""
    for _ in range(pick(rng, 1, 1, 1, 2, 5)):
        if content:
            content = pick(rng, *(SELDOM if chance(rng, 0.03) else WAYS))(rng, content)
    return content


def bomb(rng, row=b"a,b\n"):
    """Return a gzip file of a few kilobytes that holds megabytes."""
    filling = pick(rng, b"\0", b"a", b"\n", b" ", b'"', b"[", row)
    size = pick(rng, 2**20, 2**23, 2**25)
    return gzip.compress(filling * (size // len(filling)), compresslevel=1, mtime=0)
