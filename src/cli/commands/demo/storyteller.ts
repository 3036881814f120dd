import { styleText } from "node:util";
import { wrap } from "../../../doctor/findings/table";

const WIDTH = 110;

/** A terminal gets a progress line, and colours unless NO_COLOR is set (https://no-color.org); all else plain text. */
export function detectScreen(
  { isTTY, columns = WIDTH }: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
) {
  const rewrites = isTTY === true && env.TERM !== "dumb";
  return { rewrites, colours: rewrites && !env.NO_COLOR, columns: Math.min(columns, WIDTH) };
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPIN_EVERY_MS = 100;
const ERASE_LINE = "\r\u001b[2K";
const INDENT = " ".repeat(3);
const HANGING = " ".repeat(15);

export type Storyteller = ReturnType<typeof createStoryteller>;

export function createStoryteller({ colours, rewrites, columns }: ReturnType<typeof detectScreen>) {
  const styled = (style: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const write = (text: string) => process.stdout.write(`${text}\n`);
  const writeAt = (ms: number, sign: string, text: string) =>
    write(`${INDENT}${sign}  ${styled("dim", secondsText(ms))}  ${wrapped(text, HANGING, columns)}`);
  return {
    heading: (title: string, about: string) =>
      write(`\n${styled("bold", title)}\n${INDENT}${wrapped(about, INDENT, columns)}\n`),
    /** What happened, `ms` milliseconds after the demo began. */
    step: (number: number, ms: number, text: string) => writeAt(ms, styled("green", String(number)), text),
    deed: (ms: number, text: string) => writeAt(ms, styled("yellow", "!"), text),
    quote: (text: string) => write(`\n${text.trimEnd().replace(/^/gm, HANGING)}`),
    say: write,
    complain: (text: string) => write(`${INDENT}${styled("red", "✗")}  ${styled("red", text)}`),
    /** Shows what the demo waits for, until the returned function is called. */
    waitFor: (what: string) => {
      if (!rewrites) return () => {};
      const startedAt = performance.now();
      const draw = () => {
        const waitedMs = performance.now() - startedAt;
        const spinner = SPINNER[Math.floor(waitedMs / SPIN_EVERY_MS) % SPINNER.length];
        // A line that breaks could not be erased.
        const line = `${INDENT}${spinner}  ${secondsText(waitedMs)}  waiting for ${what}`;
        process.stdout.write(ERASE_LINE + styled("dim", line.slice(0, columns - 1)));
      };
      const timer = setInterval(draw, SPIN_EVERY_MS);
      return () => {
        clearInterval(timer);
        process.stdout.write(ERASE_LINE);
      };
    },
  };
}

function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(2).padStart(5)} s`;
}

/** Text in lines that fit, all but the first behind an indent. */
function wrapped(text: string, indent: string, columns: number): string {
  return wrap(text, columns - indent.length).join(`\n${indent}`);
}
