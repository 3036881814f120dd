import type {
  Happening,
  LoggedStateChange,
  RegistrarRole,
} from "../../../../src/cli/commands/demo/happenings";
import { type Row, renderSvg, sequenceOf } from "../../../../src/cli/commands/demo/picture";
import type { CsiDriverEvent } from "../../../../src/simulator/driver/csi-driver";
import type { KubeletEvent } from "../../../../src/simulator/kubelet/events";

// Happenings as the demo hears of them.

const moved = (
  atMs: number,
  fields: Partial<LoggedStateChange>,
  role: RegistrarRole = "registrar",
): Happening => ({ kind: "registrar", role, change: { ts: atMs, ...fields } as LoggedStateChange, atMs });

const driver = (event: CsiDriverEvent): Happening => ({ kind: "driver", event, atMs: event.atMs });

const kubelet = (event: KubeletEvent): Happening => ({ kind: "kubelet", event, atMs: event.atMs });

const called = (atMs: number, call: "GetInfo" | "NodeGetInfo" | "dial", error?: string): Happening =>
  kubelet({
    kind: "called",
    call,
    socketPath: "/x-reg.sock",
    durationMs: 1,
    result: error === undefined ? { kind: "ok" } : { kind: "error", error },
    atMs,
  });

test("rows stand in order of time, which counts from the start", () => {
  const rows = sequenceOf(
    [moved(1300, { reason: "socket-gone" }), { kind: "deed", text: "The driver is killed.", atMs: 1200 }],
    1000,
  );
  expect(rows).toEqual([
    { kind: "deed", text: "The driver is killed.", atMs: 200 },
    { kind: "note", lane: "registrar", text: "its socket is gone", mood: "bad", atMs: 300 },
  ]);
});

test("kubelet's calls go to the registrar that put the socket there last", () => {
  const rows = sequenceOf(
    [
      moved(1, { to: "listening" }),
      called(2, "GetInfo"),
      moved(3, { to: "listening" }, "second registrar"),
      called(4, "GetInfo"),
      called(5, "NodeGetInfo"),
    ],
    0,
  );
  expect(rows.map((row) => row.kind === "call" && row.to)).toEqual([
    "registrar",
    "second registrar",
    "driver",
  ]);
});

test("what the latest registrar asked of the driver is an arrow with the answer", () => {
  const answered = { kind: "answered", method: "GetPluginInfo", durationMs: 1 } as const;
  const rows = sequenceOf(
    [
      driver({ ...answered, result: { kind: "ok" }, atMs: 1 }),
      { kind: "begin", lane: "second registrar", atMs: 2 },
      driver({ ...answered, result: { kind: "error", error: "too busy" }, atMs: 3 }),
      driver({ ...answered, method: "NodeGetInfo", result: { kind: "ok" }, atMs: 4 }),
    ],
    0,
  );
  expect(rows).toMatchObject([
    { from: "registrar", to: "driver", answer: "demo.csi", failed: false },
    { kind: "begin" },
    { from: "second registrar", to: "driver", answer: "too busy", failed: true },
  ]);
});

test("a call that failed is drawn as failed, dialling not at all", () => {
  const rows = sequenceOf([called(1, "dial"), called(2, "GetInfo", "DeadlineExceeded")], 0);
  expect(rows).toMatchObject([{ name: "GetInfo", answer: "DeadlineExceeded", failed: true }]);
});

test("what kubelet writes is an arrow to the API objects", () => {
  const csiNode = {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name: "n", ownerReferences: [] },
    spec: { drivers: [{ name: "x.csi", nodeID: "n", topologyKeys: [] }] },
  } as const;
  expect(sequenceOf([kubelet({ kind: "csi-node-changed", csiNode, atMs: 1 })], 0)).toMatchObject([
    { kind: "call", from: "kubelet", to: "API objects", name: "CSINode", answer: "drivers: x.csi" },
  ]);
});

const FAILED = { answer: 'node ID "a"\u0000', failed: true, atMs: 10 };
const rows: readonly Row[] = [
  { kind: "chapter", title: "A <story> & more", atMs: 0 },
  { kind: "begin", lane: "driver", atMs: 0 },
  { kind: "begin", lane: "kubelet", atMs: 0 },
  { ...{ kind: "call", from: "kubelet", to: "driver", name: "NodeGetInfo" }, ...FAILED },
  { kind: "end", lane: "driver", atMs: 20 },
  { kind: "note", lane: "kubelet", text: "x.csi is deregistered", mood: "bad", atMs: 30 },
];

test("every element is closed and every text escaped", () => {
  const svg = renderSvg(rows);
  const open: string[] = [];
  for (const [, slash, name, self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (slash) expect(open.pop()).toBe(name);
    else if (!self) open.push(name as string);
  }
  expect(open).toEqual([]);
  expect(svg).toContain("<title>A &lt;story&gt; &amp; more</title>");
  expect(svg).toContain('class="answer failed">node ID &quot;a&quot;<');
});

test("it is drawn for light and for dark systems, in the same classes", () => {
  const [, style = ""] = /<style>(.*)<\/style>/s.exec(renderSvg(rows)) ?? [];
  const [light = "", dark = ""] = style.split("@media (prefers-color-scheme: dark)");
  const coloursOf = (css: string) =>
    Array.from(css.matchAll(/^(\.[^{]+) \{ (?:fill|color|stroke): #/gm), ([, selector]) => selector);
  expect(coloursOf(dark)).not.toEqual([]);
  expect(coloursOf(light)).toEqual(coloursOf(dark));
});

test("only those on stage have a lifeline, and the API objects", () => {
  const svg = renderSvg(rows);
  expect(svg).toContain(">CSI driver<");
  expect(svg).toContain(">kubelet<");
  expect(svg).toContain(">API objects<");
  expect(svg).not.toContain(">registrar<");
});

test("the lifeline of an ended process is crossed and stops there", () => {
  const lifelines = renderSvg(rows).matchAll(/<line [^>]*y2="([\d.]+)"[^>]*stroke-opacity/g);
  const bottoms = Array.from(lifelines, ([, y2]) => Number(y2));
  const [driver = 0, kubelet = 0, objects = 0] = bottoms;
  expect(driver).toBeLessThan(kubelet);
  expect(kubelet).toBe(objects);
});

test("a row appears when its turn comes, in the recorded order, and the whole picture stands for a while", () => {
  const svg = renderSvg(rows);
  const shown = Array.from(svg.matchAll(/<g class="step (s\d+)">/g), ([, name]) => name);
  const starts = shown.map((name) => Number(new RegExp(`@keyframes ${name} .* ([\\d.]+)%`).exec(svg)?.[1]));
  expect(starts).toEqual([...starts].sort((one, other) => one - other));
  // The call and the note: 0.7 s and 1.4 s of 7.4 s.
  expect(starts).toEqual([9.46, 18.92]);
  expect(svg).not.toContain("<script");
});
