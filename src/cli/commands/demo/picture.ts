import { basename } from "node:path";
import { SOCKET_TAIL } from "../../../registrar/socket/socket-name";
import type { CsiDriverEvent } from "../../../simulator/driver/csi-driver";
import type { CallResult, KubeletEvent } from "../../../simulator/kubelet/events";
import { nodeIdsOf } from "../../../simulator/kubelet/objects";
import type { Deed, Happening, LoggedStateChange, RegistrarRole, Role } from "./happenings";
import { DRIVER_NAME } from "./stage";

type Lane = Role | "API objects";

/** One row of a sequence picture, from top to bottom. */
export type Row = Content & { readonly atMs: number };

type Content = Deed | ReturnType<typeof note> | ReturnType<typeof call>;

type Mood = "good" | "bad" | "plain";

/** What happened as rows, in order of time. Kubelet calls the registrar that published last, the latest one asks the driver. */
export function sequenceOf(happenings: readonly Happening[], startedAt: number): readonly Row[] {
  let owner: RegistrarRole = "registrar";
  let latest: RegistrarRole = "registrar";
  return [...happenings]
    .sort((a, b) => a.atMs - b.atMs)
    .flatMap((happening) => {
      if (happening.kind === "registrar" && happening.change.to === "listening") owner = happening.role;
      if (happening.kind === "begin" && isRegistrar(happening.lane)) latest = happening.lane;
      return contentOf(happening, owner, latest).map((content) => ({
        ...content,
        atMs: happening.atMs - startedAt,
      }));
    });
}

const isRegistrar = (lane: Role): lane is RegistrarRole =>
  lane === "registrar" || lane === "second registrar";

function contentOf(happening: Happening, owner: RegistrarRole, latest: RegistrarRole): readonly Content[] {
  switch (happening.kind) {
    case "driver":
      return driverRows(happening.event, latest);
    case "registrar":
      return registrarRows(happening.role, happening.change);
    case "kubelet":
      return kubeletRows(happening.event, owner);
    default:
      return [happening];
  }
}

function driverRows(event: CsiDriverEvent, latest: RegistrarRole): readonly Content[] {
  if (event.kind === "listening") return [note("driver", `listens on ${basename(event.csiAddress)}`)];
  if (event.kind !== "answered" || event.method !== "GetPluginInfo") return [];
  const { result } = event;
  return [
    result.kind === "ok"
      ? call(latest, "driver", event.method, DRIVER_NAME)
      : call(latest, "driver", event.method, result.error, true),
  ];
}

function registrarRows(
  role: RegistrarRole,
  { from, to, reason, driver }: LoggedStateChange,
): readonly Content[] {
  if (to === "standby") return [note(role, "stands by: another socket is there")];
  if (from === "standby") return [note(role, "sees that the other is gone")];
  if (reason === "socket-gone") return [note(role, "its socket is gone", "bad")];
  // Before the socket is there: by then kubelet may have seen it.
  return to === "publishing" ? [note(role, `publishes ${driver}${SOCKET_TAIL}`)] : [];
}

function kubeletRows(event: KubeletEvent, owner: RegistrarRole): readonly Content[] {
  switch (event.kind) {
    case "started":
      return [note("kubelet", `watches ${basename(event.pluginRegistrationPath)}`)];
    case "socket-seen":
      return [note("kubelet", event.replaced ? "sees a new socket" : "sees the socket")];
    case "socket-gone":
      return [note("kubelet", "sees that the socket is gone")];
    case "called": {
      const { call: name, result } = event;
      const to = name === "NodeGetInfo" ? "driver" : owner;
      return name === "dial" ? [] : [call("kubelet", to, name, answerText(result), result.kind === "error")];
    }
    case "node-changed":
      return [call("kubelet", "API objects", "Node", `node IDs ${JSON.stringify(nodeIdsOf(event.node))}`)];
    case "csi-node-changed": {
      const names = event.csiNode.spec.drivers.map(({ name }) => name);
      return [call("kubelet", "API objects", "CSINode", `drivers: ${names.join(", ") || "none"}`)];
    }
    case "registered":
      return [note("kubelet", `${event.driverName} is registered`, "good")];
    case "deregistered":
      return [note("kubelet", `${event.driverName} is deregistered`, "bad")];
    case "refused":
      return [note("kubelet", `${event.driverName} is refused`, "bad")];
    default:
      return [];
  }
}

function note(lane: Lane, text: string, mood: Mood = "plain") {
  return { kind: "note", lane, text, mood } as const;
}

function call(from: Lane, to: Lane, name: string, answer: string, failed = false) {
  return { kind: "call", from, to, name, answer, failed } as const;
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

const HEIGHTS: Readonly<Record<Row["kind"], number>> = {
  chapter: 92,
  deed: 38,
  begin: 0,
  end: 24,
  note: 32,
  call: 42,
};

const LANES: readonly Lane[] = ["driver", "registrar", "second registrar", "kubelet", "API objects"];

type Placed = readonly [row: Row, top: number];

/** The class of a lane's group: `currentColor` in it is the lane's colour. */
const laneClass = (lane: Lane) => lane.replaceAll(" ", "-");

const SHAPES = `
text { font: 12px -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif }
.time { text-anchor: end; font-size: 11px; font-variant-numeric: tabular-nums }
.title { font-size: 16px; font-weight: 600; stroke-width: 6px; paint-order: stroke }
.caption, .note, .name, .answer { text-anchor: middle }
.caption, .name, .deed { font-weight: 600 }
.name, .answer { stroke-width: 4px; paint-order: stroke }
.answer { font-size: 11px }
`;

const COLOURS: readonly (readonly [selector: string, property: string, light: string, dark: string])[] = [
  [".paper", "fill", "#ffffff", "#0d1117"],
  [".paper", "stroke", "#d1d9e0", "#3d444d"],
  [".title, .name, .answer", "stroke", "#ffffff", "#0d1117"],
  [".title, .name, .note", "fill", "#1f2328", "#f0f6fc"],
  [".time, .answer", "fill", "#59636e", "#9198a1"],
  [".failed", "fill", "#c2202b", "#ff7b72"],
  [".band", "fill", "#fff3e0", "#2d2013"],
  [".deed", "fill", "#9a3412", "#f0b072"],
  [".caption", "fill", "#ffffff", "#0d1117"],
  [".driver", "color", "#0f766e", "#2dd4bf"],
  [".registrar", "color", "#6d28d9", "#b197fc"],
  [".second-registrar", "color", "#a21caf", "#e879f9"],
  [".kubelet", "color", "#1d4ed8", "#79b8ff"],
  [".API-objects", "color", "#475569", "#a3b1c2"],
  [".good", "fill", "#dcfce7", "#12361f"],
  [".bad", "fill", "#fee2e2", "#4a1a1d"],
  [".plain", "fill", "#ffffff", "#0d1117"],
];

const rules = (colourOf: (row: (typeof COLOURS)[number]) => string) =>
  COLOURS.map((row) => `${row[0]} { ${row[1]}: ${colourOf(row)} }`).join("\n");

/** The picture's style sheet: light, and dark for a reader whose system asks for it. */
const STYLE = `${SHAPES}${rules(([, , light]) => light)}
@media (prefers-color-scheme: dark) {
${rules(([, , , dark]) => dark)}
}
`;

/** The least time between two rows, and how long the whole picture stands before it plays again. */
const [STEP_S, PAUSE_S] = [0.7, 6];

/**
 * The rows appear as they were recorded, but no faster than people read. It is CSS, so that GitHub shows it; where it does not
 * play, or the reader's system asks for less motion, the whole picture is there.
 */
function animate(rows: readonly Row[]): { style: string; classes: readonly (string | 0)[] } {
  let atS = 0;
  const starts = rows.map((row, index) => {
    const sinceS = (row.atMs - (rows[index - 1]?.atMs ?? 0)) / 1000;
    if (["deed", "note", "call"].includes(row.kind)) atS += Math.max(STEP_S, sinceS);
    return atS;
  });
  const cycleS = atS + PAUSE_S;
  const steps = [...new Set(starts)].filter((startS) => startS > 0);
  const keyframes = steps.map(
    (startS, index) =>
      `.s${index} { animation-name: s${index} }\n` +
      `@keyframes s${index} { 0% { opacity: 0 } ${((100 * startS) / cycleS).toFixed(2)}% { opacity: 1 } }`,
  );
  const all = [`.step { animation: ${cycleS.toFixed(1)}s step-end infinite }`, ...keyframes].join("\n");
  const style = `@media (prefers-reduced-motion: no-preference) {\n${all}\n}\n`;
  return { style, classes: starts.map((startS) => startS && `step s${steps.indexOf(startS)}`) };
}

/** Draws the rows as a sequence picture: an SVG document that needs nothing but a sans-serif font. */
export function renderSvg(rows: readonly Row[]): string {
  const lanes = LANES.filter(
    (lane) => lane === "API objects" || rows.some((row) => row.kind === "begin" && row.lane === lane),
  );
  const centre = (lane: Lane) => TIME_COLUMN + LANE_WIDTH * (lanes.indexOf(lane) + 0.5);
  const width = TIME_COLUMN + LANE_WIDTH * lanes.length + MARGIN;
  let top = MARGIN / 2;
  const placed = rows.map((row, index) => {
    const here: Placed = [row, top];
    // Processes that end in a row share one line.
    top += row.kind === "end" && rows[index + 1]?.kind === "end" ? 0 : HEIGHTS[row.kind];
    return here;
  });
  const height = top + MARGIN;
  const { style, classes } = animate(rows);
  const titles = rows.flatMap((row) => (row.kind === "chapter" ? [row.title] : []));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escapeXml(titles.join("; "))}</title>`,
    `<style>${STYLE}${style}</style>`,
    `<rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    ...lanes.flatMap((lane) => lifelines(lane, placed, height - MARGIN, centre(lane))),
    ...placed.flatMap(([row, top], index) => {
      const drawn = drawRow(row, top, { centre, lanes, width });
      return classes[index] && drawn.length > 0 ? [`<g class="${classes[index]}">`, ...drawn, "</g>"] : drawn;
    }),
    "</svg>",
    "",
  ].join("\n");
}

/** From each start of a process to its end, which gets a cross. API objects outlive every process. */
function lifelines(lane: Lane, placed: readonly Placed[], bottom: number, x: number): readonly string[] {
  const lines: string[] = [];
  const stroke = `class="${laneClass(lane)}" stroke="currentColor"`;
  let from = lane === "API objects" ? MARGIN + HEIGHTS.chapter : undefined;
  const draw = (to: number) => {
    if (from !== undefined)
      lines.push(
        `<line x1="${x}" y1="${from}" x2="${x}" y2="${to}" ${stroke} stroke-opacity="0.45" stroke-width="2"/>`,
      );
    from = undefined;
  };
  for (const [row, top] of placed) {
    if (row.kind === "begin" && row.lane === lane) from = top;
    if (row.kind === "end" && row.lane === lane) {
      draw(top + 8);
      lines.push(
        `<path d="M${x - 6} ${top + 2}l12 12m0 -12l-12 12" ${stroke} stroke-width="2.5" fill="none"/>`,
      );
    }
  }
  draw(bottom);
  return lines;
}

type Geometry = { readonly lanes: readonly Lane[]; readonly width: number; centre(lane: Lane): number };

function drawRow(row: Row, top: number, { lanes, width, centre }: Geometry): readonly string[] {
  switch (row.kind) {
    case "chapter":
      return [
        text(MARGIN, top + 30, "title", row.title),
        ...lanes.flatMap((lane) => caption(lane, centre(lane), top + 50)),
      ];
    case "deed":
      return [
        timeText(row, top + 21),
        `<rect class="band" x="${TIME_COLUMN}" y="${top + 5}" width="${width - TIME_COLUMN - MARGIN}" height="26" rx="6"/>`,
        text(TIME_COLUMN + 12, top + 22, "deed", row.text),
      ];
    case "begin":
    case "end":
      return [];
    case "note": {
      const x = centre(row.lane);
      const noteWidth = Math.max(80, Math.round(row.text.length * CHARACTER) + 20);
      return [
        timeText(row, top + 21),
        `<g class="${laneClass(row.lane)}">`,
        `<rect class="${row.mood}" x="${x - noteWidth / 2}" y="${top + 4}" width="${noteWidth}" height="24" rx="6" stroke="currentColor"/>`,
        text(x, top + 20, "note", row.text),
        "</g>",
      ];
    }
    case "call":
      return [timeText(row, top + 26), ...arrow(row, centre(row.from), centre(row.to), top + 22)];
  }
}

function caption(lane: Lane, x: number, y: number): readonly string[] {
  return [
    `<g class="${laneClass(lane)}">`,
    `<rect x="${x - 70}" y="${y}" width="140" height="28" rx="6" fill="currentColor"/>`,
    text(x, y + 19, "caption", lane === "driver" ? "CSI driver" : lane),
    "</g>",
  ];
}

/** An arrow, the call's name above it and the answer below, near its tail: the arrow may cross other lifelines. */
function arrow(
  call: Extract<Row, { readonly kind: "call" }>,
  from: number,
  to: number,
  y: number,
): readonly string[] {
  const way = Math.sign(to - from);
  const middle = from + (way * LANE_WIDTH) / 2;
  const head = `M${to - way * 10} ${y - 5}L${to} ${y}L${to - way * 10} ${y + 5}z`;
  return [
    `<g class="${laneClass(call.from)}">`,
    `<line x1="${from}" y1="${y}" x2="${to - way * 9}" y2="${y}" stroke="currentColor" stroke-width="1.8"/>`,
    `<path d="${head}" fill="currentColor"/>`,
    `<circle cx="${from}" cy="${y}" r="3" fill="currentColor"/>`,
    "</g>",
    text(middle, y - 6, "name", call.name),
    text(middle, y + 14, call.failed ? "answer failed" : "answer", call.answer),
  ];
}

const timeText = ({ atMs }: Row, y: number) =>
  text(TIME_COLUMN - 16, y, "time", `${(atMs / 1000).toFixed(2)} s`);

function text(x: number, y: number, style: string, content: string): string {
  return `<text x="${x}" y="${y}" class="${style}">${escapeXml(content)}</text>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** The text as XML character data; what XML 1.0 cannot hold is left out. */
function escapeXml(content: string): string {
  return content
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
