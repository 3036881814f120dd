import type { Lane, Mood } from "./sequence";

const LIGHT = {
  paper: "#ffffff",
  frame: "#d1d9e0",
  ink: "#1f2328",
  faint: "#59636e",
  failed: "#c2202b",
  /** What the demo does: a band over the whole width, and its text. */
  band: "#fff3e0",
  onBand: "#9a3412",
  onCaption: "#ffffff",
  lanes: {
    driver: "#0f766e",
    registrar: "#6d28d9",
    "second registrar": "#a21caf",
    kubelet: "#1d4ed8",
    "API objects": "#475569",
  },
  moods: { good: "#dcfce7", bad: "#fee2e2", plain: "#ffffff" },
} satisfies {
  readonly lanes: Readonly<Record<Lane, string>>;
  readonly moods: Readonly<Record<Mood, string>>;
  readonly [part: string]: unknown;
};

const DARK: typeof LIGHT = {
  paper: "#0d1117",
  frame: "#3d444d",
  ink: "#f0f6fc",
  faint: "#9198a1",
  failed: "#ff7b72",
  band: "#2d2013",
  onBand: "#f0b072",
  onCaption: "#0d1117",
  lanes: {
    driver: "#2dd4bf",
    registrar: "#b197fc",
    "second registrar": "#e879f9",
    kubelet: "#79b8ff",
    "API objects": "#a3b1c2",
  },
  moods: { good: "#12361f", bad: "#4a1a1d", plain: "#0d1117" },
};

/** The class of a lane's group: what is drawn in it has the lane's colour as `currentColor`. */
export const laneClass = (lane: Lane): string => lane.replaceAll(" ", "-");

const SHAPES = `
text { font: 12px -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif }
.time { text-anchor: end; font-size: 11px; font-variant-numeric: tabular-nums }
.title { font-size: 16px; font-weight: 600; stroke-width: 6px; paint-order: stroke }
.caption, .note, .name, .answer { text-anchor: middle }
.caption, .name, .deed { font-weight: 600 }
.name, .answer { stroke-width: 4px; paint-order: stroke }
.answer { font-size: 11px }
`;

function coloured({ paper, frame, ink, faint, failed, band, onBand, onCaption, lanes, moods }: typeof LIGHT) {
  return [
    `.paper { fill: ${paper}; stroke: ${frame} }`,
    `.title, .name, .answer { stroke: ${paper} }`,
    `.title, .name, .note { fill: ${ink} }`,
    `.time, .answer { fill: ${faint} }`,
    `.failed { fill: ${failed} }`,
    `.band { fill: ${band} } .deed { fill: ${onBand} }`,
    `.caption { fill: ${onCaption} }`,
    ...Object.entries(lanes).map(([lane, colour]) => `.${laneClass(lane as Lane)} { color: ${colour} }`),
    ...Object.entries(moods).map(([mood, colour]) => `.${mood} { fill: ${colour} }`),
  ].join("\n");
}

/** The picture's style sheet: light, and dark for a reader whose system asks for it. */
export const STYLE = `${SHAPES}${coloured(LIGHT)}
@media (prefers-color-scheme: dark) {
${coloured(DARK)}
}
`;
