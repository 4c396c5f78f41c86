"""What was asked of a benchmark, and whether it was met."""


def verdict(rows: list[tuple[str, bool]]) -> bool:
    print("\n| asked | met |\n|---|---|")
    for text, met in rows:
        print(f"| {text} | {'yes' if met else '**no**'} |")
    return all(met for _, met in rows)
