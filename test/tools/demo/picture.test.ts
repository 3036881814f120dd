import type { Happening, RegistrarRole } from "../../../src/tools/demo/happenings";
import { type Row, renderSvg, sequenceOf } from "../../../src/tools/demo/picture";

const moved = (
  role: RegistrarRole,
  to: "listening" | "publishing" | "standby",
  reason = "published",
): Happening => ({ role, from: "waiting", to, reason, driver: "x.csi", atMs: 0 });

const started = (who: RegistrarRole): Happening => ({ role: "demo", kind: "start", who, atMs: 0 });

const called = (call: "GetInfo" | "NodeGetInfo" | "dial", error?: string): Happening => ({
  ...{ role: "kubelet", kind: "called", call, socketPath: "/x-reg.sock", durationMs: 1, atMs: 0 },
  result: error === undefined ? { kind: "ok" } : { kind: "error", error },
});

const answered = (error?: string): Happening => ({
  ...{ role: "driver", kind: "answered", method: "GetPluginInfo", durationMs: 1, atMs: 0 },
  result: error === undefined ? { kind: "ok" } : { kind: "error", error },
});

test.each<readonly [what: string, happenings: readonly Happening[], rows: readonly string[]]>([
  [
    "calls go to the registrar that published last",
    [
      called("GetInfo"),
      moved("second registrar", "listening"),
      called("GetInfo"),
      moved("registrar", "listening"),
      called("GetInfo"),
    ],
    ["GetInfo kubelet>registrar: ", "GetInfo kubelet>second registrar: ", "GetInfo kubelet>registrar: "],
  ],
  [
    "in order of time, the registrar that started last asks the driver",
    [{ ...answered("too busy"), atMs: 2 }, answered(), { ...started("second registrar"), atMs: 1 }],
    ["GetPluginInfo registrar>driver: demo.csi", "GetPluginInfo second registrar>driver: too busy"],
  ],
  [
    "a failed call has its error, dialling is no call",
    [called("dial"), called("NodeGetInfo", "DeadlineExceeded")],
    ["NodeGetInfo kubelet>driver: DeadlineExceeded"],
  ],
])("%s", (_what, happenings, expected) => {
  const told = sequenceOf(happenings, 0).map((row) => {
    return row.kind === "call" ? `${row.text} ${row.lane}>${row.to}: ${row.answer}` : row.text;
  });
  expect(told).toEqual(expected);
});

const ROWS: readonly Row[] = [
  { kind: "chapter", text: "A <story> & more", atMs: 0 },
  { kind: "call", lane: "kubelet", to: "driver", text: "NodeGetInfo", answer: 'node ID "a"\u0000', atMs: 10 },
  { kind: "note", lane: "kubelet", text: "x.csi is deregistered", atMs: 30 },
];

test("the picture: every element is closed and every text escaped; only those who did something have a lane", () => {
  const svg = renderSvg(ROWS);
  const open: string[] = [];
  for (const [, slash, name, self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (slash) expect(open.pop()).toBe(name);
    else if (!self) open.push(name as string);
  }
  expect(open).toEqual([]);
  expect(svg).toContain("<title>A &lt;story&gt; &amp; more</title>");
  expect(svg).toContain('class="answer">node ID &quot;a&quot;<');
  expect(Array.from(svg.matchAll(/class="caption">([^<]+)</g), ([, lane]) => lane)).toEqual([
    "CSI driver",
    "kubelet",
  ]);
});
