"""`python -m benches.reporting`: the page, its plots and the README's figures, from the files in `benches/results`."""

from benches.reporting import drawing
from benches.reporting.markdown import PAGE, PLOTS
from benches.reporting.page import page
from benches.reporting.readme import README, readme
from benches.reporting.results import ROOT, load


def main() -> None:
    """Write all of them, and say what could not be written."""
    results = load()
    made = page(results)

    PAGE.write_text(made.text, "utf-8")
    README.write_text(readme(README.read_text("utf-8"), results), "utf-8")
    PLOTS.mkdir(exist_ok=True)
    for old in PLOTS.glob("*.svg"):
        if old.name not in {chart.file for chart in made.charts}:
            old.unlink()
    for chart in made.charts:
        (PLOTS / chart.file).write_text(drawing.draw(chart), "utf-8")

    print(f"wrote {PAGE.relative_to(ROOT)} with {len(made.charts)} plots, and the figures of {README.name}")
    for name in made.missing:
        print(f"left out: what benches/results/{name}.json would show, for it is not there")


if __name__ == "__main__":
    main()
