"""How the audit page looks: light and dark, phone and desktop."""

# Ten colours that stay apart for colour-blind readers by lightness as well as by hue; each has
# 3:1 against the paper in its own mode.
LIGHT = ("#0072b2", "#c85000", "#008a64", "#b8578c", "#b57a00",
         "#3d92c4", "#7a1f4e", "#7f7f26", "#3b2a96", "#6b4a2c")  # fmt: skip
DARK = ("#4fa8e0", "#ff8344", "#2bc29a", "#e99ac6", "#f2b632",
        "#9bd8ff", "#e0678f", "#c9c95c", "#a294ff", "#cda274")  # fmt: skip
N_COLOURS = len(LIGHT)


def _colours(palette: tuple[str, ...]) -> str:
    return " ".join(f"--c{k}: {colour};" for k, colour in enumerate(palette))


# The two modes are written once each, so that a test can force either.
MODES = f"""
:root {{ color-scheme: light dark; --ink: #1d2126; --paper: #fff; --soft: #59616b;
  --line: #d9dde2; --panel: #f5f6f8; --edge: #1d2126; --accent: #0b5cab; --alarm: #b3261e;
  {_colours(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e7e9ec; --paper: #14171a; --soft: #a4adb8;
  --line: #333a42; --panel: #1c2125; --edge: #e7e9ec; --accent: #7ab8f5; --alarm: #ff8f84;
  {_colours(DARK)} }} }}
"""
STYLE = (
    MODES
    + """
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  overflow-wrap: anywhere; }
@media (min-width: 48rem) { body { padding: 2.5rem 2rem 5rem; } }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .75rem; font-weight: 650;
  letter-spacing: -.01em; }
h2 { font-size: 1.15rem; line-height: 1.3; margin: 0 0 .35rem; font-weight: 650; }
section { margin-top: 2.75rem; } p { margin: .4rem 0; max-width: 44rem; }
.lead { font-size: 1.15rem; line-height: 1.5; max-width: 46rem; }
.soft, caption, figcaption { color: var(--soft); font-size: .875rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.certificate { display: grid; gap: .75rem; padding: 0; margin: .9rem 0 0;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 10rem), 1fr)); }
@media (min-width: 48rem) { .certificate { grid-template-columns: repeat(3, 1fr); } }
sub, sup { line-height: 0; }
.certificate div { background: var(--panel); border-radius: .5rem; padding: .7rem .9rem; }
.certificate dt { color: var(--soft); font-size: .875rem; }
.certificate dd { margin: 0; } .certificate dd:nth-of-type(2) { font-size: .8125rem;
  color: var(--soft); line-height: 1.4; } .value { font-size: 1.2rem; font-weight: 600; }
/* A shade at the side to which the table goes on; paper covers it at the end. */
.scroll { overflow-x: auto; margin-top: .8rem; background:
  linear-gradient(to right, var(--paper) 40%, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 40%, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--line), transparent) left / .8rem 100% no-repeat scroll,
  linear-gradient(to left, var(--line), transparent) right / .8rem 100% no-repeat scroll; }
.scroll:focus-visible, canvas:focus-visible, button:focus-visible, input:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; padding-bottom: .4rem; } caption span { position: sticky; left: 0;
  display: inline-block; max-width: min(44rem, calc(100vw - 2rem)); }
th, td { padding: .38rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; overflow-wrap: normal; } bdi { overflow-wrap: anywhere; }
thead th { font-weight: 600; border-bottom: 2px solid var(--line);
  white-space: nowrap; } tbody th { font-weight: 400; } th:first-child, td:first-child {
  padding-left: .1rem; } thead th.number { text-align: right; }
tr.chosen { background: var(--panel); font-weight: 600; }
.bar { display: block; height: .55rem; border-radius: 2px; min-width: 1px; }
.sizes { max-width: 44rem; } .bars, .sizes th:last-child { padding-left: 1.5rem; }
.bars { width: 45%; min-width: 5.5rem; vertical-align: middle; } .bars .bar + .bar {
  margin-top: 3px; } .hollow { background: none; border: 1.5px solid; }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0;
  padding: 0; cursor: pointer; white-space: nowrap; } th button::after { content: " ↕";
  color: var(--soft); font-weight: 400; } th[aria-sort=ascending] button::after { content: " ↑";
  color: inherit; } th[aria-sort=descending] button::after { content: " ↓"; color: inherit; }
.tools { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin-top: .8rem; }
input { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft);
  border-radius: .375rem; padding: .3rem .6rem; width: 17rem; max-width: 100%; }
td bdi, tbody th bdi { display: inline-block; width: max-content; max-width: 10rem;
  vertical-align: top; } @media (min-width: 48rem) { td bdi, tbody th bdi { max-width: 17rem; } }
@media (max-width: 30rem) { th, td { padding: .35rem .4rem; } .bars, .sizes th:last-child {
  padding-left: .6rem !important; } td bdi, tbody th bdi { max-width: 8rem; } }
td.evidence { min-width: 13rem; font-size: .85rem; } td.evidence bdi { width: auto; }
.likely { color: var(--alarm); font-weight: 600; }
.picture { margin: .8rem 0 0; position: relative; } canvas { display: block; width: 100%;
  border: 1px solid var(--line); border-radius: .5rem; touch-action: pan-y; }
.tip { position: absolute; pointer-events: none; background: var(--ink); color: var(--paper);
  border-radius: .375rem; padding: .35rem .6rem; font-size: .8125rem; line-height: 1.4;
  max-width: min(18rem, 80%); white-space: pre-line; left: 0; top: 0; } [hidden] {
  display: none !important; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: .7rem 0 0; padding: 0;
  list-style: none; font-size: .875rem; } .legend li { display: flex; align-items: center;
  gap: .4rem; } .legend svg { flex: none; width: 1.25rem; height: 1.25rem; overflow: visible; }
.plot { display: grid; grid-template-columns: auto 1fr; gap: 0 .5rem; max-width: 44rem;
  margin: 1rem 0 .4rem; font-size: .8125rem; color: var(--soft); }
.plot .y { position: relative; min-width: 2.6rem; } .plot .y span { position: absolute; right: 0;
  transform: translateY(50%); white-space: nowrap; font-variant-numeric: tabular-nums; }
.plot .area { position: relative; height: 13rem; } .plot .area svg { position: absolute; inset: 0;
  width: 100%; height: 100%; overflow: visible; } .plot .x { grid-column: 2; position: relative;
  height: 1.6rem; } .plot .x span { position: absolute; transform: translateX(-50%); top: .3rem;
  white-space: nowrap; font-variant-numeric: tabular-nums; } .plot .what { grid-column: 2;
  text-align: center; } .plot path, .plot line { vector-effect: non-scaling-stroke; fill: none; }
.plot.low .area { height: 5rem; } .class { display: flex; gap: .4rem; align-items: center; }
.class svg { flex: none; width: 1rem; height: 1rem; }
.pick { position: absolute; transform: translate(-50%, 50%); width: 1.3rem; height: 1.3rem;
  border: 2.5px solid var(--ink); border-radius: 50%; }
pre { background: var(--panel); border-radius: .5rem; padding: .8rem 1rem; overflow-x: auto;
  font: .85rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: normal; }
dl.pairs { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem;
  font-size: .9rem; margin: .8rem 0 0; } dl.pairs dt { color: var(--soft); } dl.pairs dd {
  margin: 0; }
@media print { .tools { display: none; } section { break-inside: avoid; } }
"""
)
