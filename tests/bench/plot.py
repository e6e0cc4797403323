"""Draws the rows of a suite with gnuplot: SUITE_CASE.svg for each case, SUITE.svg with all of them.
SPDX-License-Identifier: MIT

Horizontal bars, grouped by implementation, one bar for each number of threads, best at the top: the median, with a tick
at the best sample and a line where the goal is. A bar far longer than the others is cut and says so.
"""
import statistics, subprocess

# role: colours of the first and of the last bar of a group; those between are mixed.
COLOURS = {"self": ("#0f766e", "#5ec4b6"), "peer": ("#3b5b92", "#9db4dc"), "floor": ("#6b6b6b", "#bdbdbd")}
NAMES = {"self": "tandem", "peer": "peer", "floor": "floor"}
REACH = "#d1345b"
WIDTH, BAR, GAP, HEAD, FOOT = 620, 13, 9, 46, 40  # pixels


def mixed(first, last, share):
    pairs = [(int(first[i:i + 2], 16), int(last[i:i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def quoted(text):
    return '"' + text.replace("\\", "").replace('"', "'") + '"'


class panel:
    """One case: where its bars are, in pixels from the top, and what is to be drawn."""

    def __init__(self, rows, compilers):
        self.title = f"{rows[0]['case']}: {rows[0]['unit']}, {rows[0]['better']} is better"
        self.subtitle = rows[0]["input"]
        self.groups = {}
        for row in rows:
            self.groups.setdefault((row["impl"], row["compiler"]), []).append(row)
        sign = 1 if rows[0]["better"] == "lower" else -1
        self.order = sorted(self.groups, key=lambda g: min(sign * r["median"] for r in self.groups[g]))
        self.several = compilers > 1
        figures = [max(r["median"], r["best"]) for r in rows]
        self.right = 1.16 * min(max(figures), 3 * statistics.median(figures)) or 1.16 * max(figures) or 1
        self.height = HEAD + FOOT + sum(BAR * len(g) + GAP for g in self.groups.values())

    def label(self, group):
        impl, compiler = group
        return f"{impl} ({compiler.split()[0].replace('-19', '')})" if self.several else impl

    def script(self, x, y, width, total_width, total_height):
        """gnuplot's coordinates of the plot area are pixels downwards; the canvas has its origin at the bottom."""
        left, plot_height = 212, self.height - HEAD - FOOT
        out = ["reset", "unset key", "set border 0", "set style fill solid 1 noborder"]
        out.append(f"set lmargin at screen {(x + left) / total_width}; set rmargin at screen {(x + width - 20) / total_width}")
        out.append(f"set tmargin at screen {1 - (y + HEAD) / total_height}")
        out.append(f"set bmargin at screen {1 - (y + HEAD + plot_height) / total_height}")
        out.append(f"set xrange [0:{self.right}]; set yrange [{plot_height}:0]; unset ytics")
        out.append("set xtics nomirror scale 0 textcolor '#777777' font ',9'; set grid xtics lt 1 lw 0.6 lc rgb '#e4e4e4'")
        out.append(f"set label {quoted(self.title)} at screen {(x + 14) / total_width},{1 - (y + 17) / total_height} font ',13' noenhanced")
        out.append(f"set label {quoted(self.subtitle)} at screen {(x + 14) / total_width},{1 - (y + 34) / total_height} font ',10' "
                   "textcolor '#666666' noenhanced")
        top, bars, ticks, goals_, label_number = GAP / 2, [], [], [], 100
        for group in self.order:
            rows = sorted(self.groups[group], key=lambda r: r["threads"])
            middle = top + BAR * len(rows) / 2
            weight = "#111111" if rows[0]["role"] == "self" else "#444444"
            out.append(f"set label {quoted(self.label(group))} at graph -0.02,first {middle} right font ',11' textcolor '{weight}' noenhanced")
            for i, row in enumerate(rows):
                colour = mixed(*COLOURS[row["role"]], i / max(1, len(rows) - 1))
                cut = row["median"] > self.right / 1.12
                length = self.right if cut else row["median"]
                bars.append(f"0 {top + BAR / 2} 0 {length} {top + 1} {top + BAR} {int(colour[1:], 16)}")
                text = f"{row['median']:.3g}" if row["median"] < 1000 else f"{row['median']:.0f}"
                if cut:
                    out.append(f"set label {quoted(text + ' >>')} at first {self.right * 0.985},{top + BAR / 2 + 0.5} right font ',9' "
                               "textcolor '#111111' front noenhanced")
                else:
                    ticks.append(f"{row['best']} {top + 1} 0 {BAR - 1}")
                    edge = max([length, row["best"]] + [row["reach"]] * bool(row["reach"] and row["reach"] < 1.25 * length))
                    out.append(f"set label {quoted(text)} at first {edge + self.right * 0.012},{top + BAR / 2 + 0.5} left font ',9' "
                               "textcolor '#333333' front noenhanced")
                if row["reach"]:
                    goals_.append(f"{row['reach']} {top - 1} 0 {BAR + 3}")
                top += BAR
            top += GAP
        out.append("$bars << END\n" + "\n".join(bars) + "\nEND")
        out.append("$ticks << END\n" + "\n".join(ticks or ["NaN NaN NaN NaN"]) + "\nEND")
        out.append("$goals << END\n" + "\n".join(goals_ or ["NaN NaN NaN NaN"]) + "\nEND")
        out.append("plot $bars using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable, "
                   "$ticks using 1:2:3:4 with vectors nohead lw 1 lc rgb '#1c1c1c', "
                   f"$goals using 1:2:3:4 with vectors nohead lw 2.4 lc rgb '{REACH}'")
        return "\n".join(out)


def legend(rows, y, total_width, total_height):
    """A row of samples of colour with their meaning; drawn in a plot of its own over the whole canvas."""
    out = ["reset", "unset key", "unset border", "unset tics", "set style fill solid 1 noborder",
           "set lmargin at screen 0; set rmargin at screen 1; set tmargin at screen 1; set bmargin at screen 0",
           f"set xrange [0:{total_width}]; set yrange [{total_height}:0]"]
    x, number = 14, 1
    for role in ("self", "peer", "floor"):
        mine = sorted({r["threads"] for r in rows if r["role"] == role})
        for i, threads in enumerate(mine):
            colour = mixed(*COLOURS[role], i / max(1, len(mine) - 1))
            text = f"{NAMES[role]}, {threads} thread{'s' if threads > 1 else ''}"
            out.append(f"set object {number} rectangle from {x},{y} to {x + 14},{y + 11} fc rgb '{colour}' lw 0")
            out.append(f"set label {quoted(text)} at {x + 19},{y + 6} font ',10' noenhanced")
            x, number = x + 26 + 6.2 * len(text), number + 1
    if any(r["reach"] for r in rows):
        out.append(f"set arrow from {x + 5},{y - 1} to {x + 5},{y + 13} nohead lw 2.4 lc rgb '{REACH}'")
        out.append(f"set label \"goal\" at {x + 13},{y + 6} font ',10'")
    out.append("plot NaN notitle")
    return "\n".join(out)


def wrapped(parts, width):
    """Joins with '; ', broken where a line is full."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) + 2 > width:
            lines.append("")
        lines[-1] += ("; " if lines[-1] else "") + part
    return lines


def figure(rows, file, columns):
    cases = list(dict.fromkeys(r["case"] for r in rows))
    compilers = len({r["compiler"] for r in rows if r["role"] != "peer" or r["impl"] in ("tbb", "openmp", "asio", "libuv")})
    panels = [panel([r for r in rows if r["case"] == c], compilers) for c in cases]
    columns = min(columns, len(panels))
    total_width = WIDTH * columns + (140 if columns == 1 else 0)
    heights, places = [12] * columns, []
    for p in panels:
        column = heights.index(min(heights))
        places.append((column, heights[column]))
        heights[column] += p.height
    parts = [rows[0]["machine"], *sorted({r["compiler"] for r in rows}), *sorted({r["version"] for r in rows if r["version"]}),
             f"median of {max(r['n'] for r in rows)} rounds, thin tick: best", rows[0]["date"]]
    caption = wrapped(parts, total_width // 6)
    total_height = max(heights) + 34 + 15 * len(caption)
    script = [f"set terminal svg size {total_width},{total_height} font 'DejaVu Sans,Helvetica,Arial,sans-serif,12' background rgb 'white'",
              f"set output {quoted(file)}", "set multiplot"]
    width = total_width // columns
    for p, (column, y) in zip(panels, places):
        script.append(p.script(column * width, y, width, total_width, total_height))
    foot = legend(rows, max(heights) + 4, total_width, total_height).split("\n")
    for i, line in enumerate(caption):
        foot.insert(-1, f"set label {quoted(line)} at 14,{max(heights) + 32 + 15 * i} font ',9' textcolor '#777777' noenhanced")
    script += foot + ["unset multiplot"]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)
    return file


def draw(suite, rows, folder):
    """@returns  the files that were written"""
    files = [figure(rows, f"{folder}/{suite}.svg", 2)]
    for case in dict.fromkeys(r["case"] for r in rows):
        files.append(figure([r for r in rows if r["case"] == case], f"{folder}/{suite}_{case}.svg", 1))
    return files
