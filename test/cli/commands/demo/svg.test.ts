import type { Row } from "../../../../src/cli/commands/demo/sequence";
import { renderSvg } from "../../../../src/cli/commands/demo/svg";

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
