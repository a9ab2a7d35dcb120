"""`python -m benches.reporting`: the page, its plots and other pages' figures, from the files in `benches/results`."""

from benches.reporting import drawing
from benches.reporting.between import SPOTS
from benches.reporting.markdown import PAGE, PLOTS
from benches.reporting.page import page
from benches.reporting.results import ROOT, load


def main() -> None:
    """Write all of them, and say what could not be written."""
    results = load()
    made = page(results)

    PAGE.write_text(made.text, "utf-8")
    for spot in SPOTS:
        (ROOT / spot.page).write_text(spot.filled(spot.now(), results), "utf-8")
    PLOTS.mkdir(exist_ok=True)
    for old in PLOTS.glob("*.svg"):
        if old.name not in {chart.file for chart in made.charts}:
            old.unlink()
    for chart in made.charts:
        (PLOTS / chart.file).write_text(drawing.draw(chart), "utf-8")

    others = ", ".join(spot.page for spot in SPOTS)
    print(f"wrote {PAGE.relative_to(ROOT)} with {len(made.charts)} plots, and the figures of {others}")
    wanted = dict.fromkeys([*made.missing, *(name for spot in SPOTS for name in spot.files if name not in results)])
    for name in wanted:
        print(f"left out: what benches/results/{name}.json would show, for it is not there")


if __name__ == "__main__":
    main()
