"""Run the commands of `robustgc`, each of which is one file of this package."""


def main() -> None:
    """Run the command line, as the script `robustgc` does; only this loads the commands."""
    from robustgc.cli.app import main as run

    run()
