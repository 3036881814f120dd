import { basename } from "node:path";
import { SOCKET_TAIL } from "../../registrar/model/socket-name";
import type { CallResult } from "../../simulator/kubelet/events";
import { nodeIdsOf } from "../../simulator/kubelet/objects";
import type { Happening, RegistrarRole, Role } from "./happenings";
import { DRIVER_NAME } from "./stage";

type Lane = Role | "API objects";

type Content =
  | { readonly kind: "chapter" | "deed"; readonly text: string }
  | ReturnType<typeof note>
  | ReturnType<typeof call>;

export type Row = Content & { readonly atMs: number };

const note = (lane: Lane, text: string) => ({ kind: "note", lane, text }) as const;
const call = (lane: Lane, to: Lane, text: string, answer: string) =>
  ({ kind: "call", lane, to, text, answer }) as const;

/** What happened as rows, in order of time. Of two registrars, the one that started or published last asks and is asked. */
export function sequenceOf(happenings: readonly Happening[], startedAt: number): readonly Row[] {
  let registrar: RegistrarRole = "registrar";
  return happenings
    .toSorted((a, b) => a.atMs - b.atMs)
    .flatMap((happening) => {
      if ("to" in happening && happening.to === "listening") registrar = happening.role;
      if ("who" in happening && happening.who === "second registrar") registrar = happening.who;
      const content = contentOf(happening, registrar);
      return content === undefined ? [] : [{ ...content, atMs: happening.atMs - startedAt }];
    });
}

function contentOf(event: Happening, registrar: RegistrarRole): Content | undefined {
  const { role } = event;
  if (role === "demo") return event.kind === "start" ? undefined : { kind: event.kind, text: event.text };
  if (role === "kubelet") return kubeletRow(event, registrar);
  if (role === "driver") {
    if (event.kind === "listening") return note("driver", `listens on ${basename(event.csiAddress)}`);
    if (event.kind !== "answered" || event.method !== "GetPluginInfo") return undefined;
    const { result, method } = event;
    return call(registrar, "driver", method, result.kind === "ok" ? DRIVER_NAME : result.error);
  }
  if (event.to === "standby") return note(role, "stands by: another socket is there");
  if (event.from === "standby") return note(role, "sees that the other is gone");
  if (event.reason === "socket-gone") return note(role, "its socket is gone");
  // Before the socket is there: by then kubelet may have seen it.
  return event.to === "publishing" ? note(role, `publishes ${event.driver}${SOCKET_TAIL}`) : undefined;
}

type KubeletHappening = Extract<Happening, { readonly role: "kubelet" }>;

function kubeletRow(event: KubeletHappening, registrar: RegistrarRole): Content | undefined {
  switch (event.kind) {
    case "started":
      return note("kubelet", `watches ${basename(event.pluginRegistrationPath)}`);
    case "socket-seen":
      return note("kubelet", event.replaced ? "sees a new socket" : "sees the socket");
    case "socket-gone":
      return note("kubelet", "sees that the socket is gone");
    case "called": {
      const to = event.call === "NodeGetInfo" ? "driver" : registrar;
      return event.call === "dial" ? undefined : call("kubelet", to, event.call, answerText(event.result));
    }
    case "node-changed":
      return call("kubelet", "API objects", "Node", `node IDs ${JSON.stringify(nodeIdsOf(event.node))}`);
    case "csi-node-changed": {
      const names = event.csiNode.spec.drivers.map(({ name }) => name);
      return call("kubelet", "API objects", "CSINode", `drivers: ${names.join(", ") || "none"}`);
    }
    case "registered":
    case "deregistered":
    case "refused":
      return note("kubelet", `${event.driverName} is ${event.kind}`);
    default:
      return undefined;
  }
}

function answerText(result: CallResult): string {
  if (result.kind === "error") return result.error;
  if (result.answer === undefined) return "";
  if ("nodeId" in result.answer) return `node ID ${result.answer.nodeId}`;
  const { type, name, endpoint } = result.answer;
  return `${type} ${name} at ${basename(endpoint)}`;
}

// Measures in pixels.
const TIME_COLUMN = 84;
const LANE_WIDTH = 236;
const MARGIN = 20;
const CHARACTER = 6.6;
const HEIGHTS: Readonly<Record<Row["kind"], number>> = { chapter: 92, deed: 38, note: 32, call: 40 };

/** From left to right, with colours that show on white and on black. */
const COLOURS: Readonly<Record<Lane, string>> = {
  driver: "#0f766e",
  registrar: "#7c3aed",
  "second registrar": "#c026d3",
  kubelet: "#2563eb",
  "API objects": "#64748b",
};

/** The rows appear one after the other, once. Where CSS does not play, the whole picture is there. */
const APPEAR_EVERY_S = 0.7;

/** No variables, which programs other than browsers do not know. */
const STYLE = `
text { font: 12px -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif }
text { fill: #1f2328; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; text-anchor: middle }
.title { font-size: 16px; font-weight: 600; text-anchor: start }
.time { font-size: 11px; fill: #59636e; text-anchor: end; font-variant-numeric: tabular-nums }
.deed { font-weight: 600; stroke: none; text-anchor: start }
.name { font-weight: 600 }
.answer { font-size: 11px; fill: #59636e }
.caption { font-weight: 600; fill: #ffffff; stroke: none }
.paper { fill: #ffffff }
.edge { stroke: #d1d9e0 }
.band { fill: #fff3e0 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; stroke: #0d1117 }
.time, .answer { fill: #9198a1 }
.paper { fill: #0d1117 }
.edge { stroke: #3d444d }
.band { fill: #2d2013 }
}
@media (prefers-reduced-motion: no-preference) { .row { animation: appear 0.3s backwards } }
@keyframes appear { from { opacity: 0 } }
`;

/** Draws the rows as a sequence picture: an SVG document that needs nothing but a sans-serif font. */
export function renderSvg(rows: readonly Row[]): string {
  const lanesOf = (row: Row) => ("to" in row ? [row.lane, row.to] : "lane" in row ? [row.lane] : []);
  const used = new Set(rows.flatMap(lanesOf));
  const lanes = (Object.keys(COLOURS) as Lane[]).filter((lane) => used.has(lane));
  const centre = (lane: Lane) => TIME_COLUMN + LANE_WIDTH * (lanes.indexOf(lane) + 0.5);
  const width = TIME_COLUMN + LANE_WIDTH * lanes.length + MARGIN;
  let height = MARGIN / 2;
  const drawn = rows.map((row, index) => {
    const place = `transform="translate(0 ${height})" style="animation-delay: ${(index * APPEAR_EVERY_S).toFixed(1)}s"`;
    height += HEIGHTS[row.kind];
    const time =
      row.kind === "chapter" ? "" : text(TIME_COLUMN - 16, 22, "time", `${(row.atMs / 1000).toFixed(2)} s`);
    return `<g class="row" ${place}>${time}${drawRow(row, centre, lanes, width)}</g>`;
  });
  height += MARGIN;
  const titles = rows.flatMap((row) => (row.kind === "chapter" ? [row.text] : []));
  const lifelines = lanes.map((lane) => {
    const x = centre(lane);
    return `<path d="M${x} ${HEIGHTS.chapter}V${height - MARGIN}" stroke="${COLOURS[lane]}" stroke-width="2" opacity="0.45"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escapeXml(titles.join("; "))}</title>
<style>${STYLE}</style>
<rect class="paper edge" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>
${[...lifelines, ...drawn].join("\n")}
</svg>
`;
}

function drawRow(row: Row, centre: (lane: Lane) => number, lanes: readonly Lane[], width: number): string {
  switch (row.kind) {
    case "chapter":
      return text(MARGIN, 30, "title", row.text) + lanes.map((lane) => caption(lane, centre(lane))).join("");
    case "deed":
      return (
        box(TIME_COLUMN, width - TIME_COLUMN - MARGIN, 'class="band"') +
        text(TIME_COLUMN + 12, 22, "deed", row.text)
      );
    case "note": {
      const x = centre(row.lane);
      const boxWidth = Math.max(80, Math.round(row.text.length * CHARACTER) + 20);
      const look = `class="paper" stroke="${COLOURS[row.lane]}"`;
      return box(x - boxWidth / 2, boxWidth, look) + text(x, 22, "note", row.text);
    }
    case "call":
      return arrow(row, centre(row.lane), centre(row.to));
  }
}

function caption(lane: Lane, x: number): string {
  const name = lane === "driver" ? "CSI driver" : lane;
  return `<g transform="translate(0 46)">${box(x - 70, 140, `fill="${COLOURS[lane]}"`)}${text(x, 22, "caption", name)}</g>`;
}

/** An arrow, the call's name above it and the answer below, near its tail: the arrow may cross other lifelines. */
function arrow(row: ReturnType<typeof call>, from: number, to: number): string {
  const way = Math.sign(to - from);
  const middle = from + (way * LANE_WIDTH) / 2;
  const line = `M${from} 20H${to}m${way * -9} -5l${way * 9} 5l${way * -9} 5`;
  return (
    `<path d="${line}" stroke="${COLOURS[row.lane]}" stroke-width="1.8" fill="none"/>` +
    text(middle, 14, "name", row.text) +
    text(middle, 34, "answer", row.answer)
  );
}

const box = (x: number, width: number, look: string) =>
  `<rect x="${x}" y="5" width="${width}" height="26" rx="6" ${look}/>`;

const text = (x: number, y: number, style: string, content: string) =>
  `<text x="${x}" y="${y}" class="${style}">${escapeXml(content)}</text>`;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** The text as XML character data; what XML 1.0 cannot hold is left out. */
function escapeXml(content: string): string {
  return content
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
