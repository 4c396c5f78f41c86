"""The frame of a page: one HTML file that asks for nothing from elsewhere."""

import base64
import hashlib

from robustgc.report.style import asset
from robustgc.report.text import name, safe


def document(title: str, lead: str, body: str, *, style: str = "", script: str = "") -> str:
    """Return a whole page: its title, one sentence that sums it up, and what follows.

    Parameters
    ----------
    title : str
        Text, not yet escaped.
    lead, body : str
        HTML.
    style : str
        CSS besides page.css.
    script : str
        JavaScript that runs at the end; the page allows no other.
    """
    code = f"\n<script>{script}</script>" if script else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{safe(title)}</title><style>{asset('page.css')}{style}</style></head>\n"
        f'<body><main><h1>{name(title)}</h1><p class="lead" id="summary">{lead}</p>'
        f"{body}</main>{code}</body></html>\n"
    )


def _policy(script: str) -> str:
    """Allow this script, by its hash, and styles; nothing else, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    return (
        f"default-src 'none'; {allowed}style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
