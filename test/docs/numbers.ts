import { version } from "../../package.json";
import { CLAIMS } from "./claims";
import { CHOSEN, fenceProblems, isWorkflow } from "./fences";
import { DOCUMENTS, filesBelow } from "./markdown";

// Every number of a page has a source: a comment that names its constant (scripts/pages.mjs), a table that a command wrote, a fence
// that a test compares, or a claim in claims.ts, which is made of constants, or of facts about other programs with their source.

/** Pages that a command writes as a whole, and those of contributors. */
const OTHERS = ["docs/api.md"];
export const NUMBERED = [
  ...DOCUMENTS.filter((page) => (page.startsWith("docs/") || page === "README.md") && !OTHERS.includes(page)),
  ...filesBelow("examples", ".yaml"),
  "examples/driver/README.md",
];

const REGION = /<!-- (\S+): written by .*?<!-- end of \1.*?-->/gs;
const MARKED = /<!--=[\w.-]+-->\d[\d,.]*(?:Mi|m\b)?(?: min \d+ s)?/g;
/** links.test.ts follows them. */
const LINKS = /\]\([^)\s]*\)/g;
/** Steps, which count from 1 on. */
const STEPS = [/^ *(\d+)\. /gm, /^\*\*(\d+)\. (?=[A-Z])/gm, /^# +(\d+)\. /gm];
const FREE = [
  LINKS,
  ...STEPS,
  new RegExp(`(?<![\\w.])(?:${[version, ...CHOSEN].join("|").replaceAll(".", "\\.")})(?![\\w.]*\\d)`, "g"),
];
/** A version behind a colon is the tag of an image. */
const NUMBER = /(?<![\w.#/@-])(?<!:(?=v))v?\d[\d,]*(?:\.\d+)*/g;
/** A time in words: no comment names its constant, as one does before a digit. */
const WORDED =
  /\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half an?) (?:second|minute|hour|day|week|month)s?\b/gi;
const FENCE = /^ *```(\w*)\n(.*?)^ *```$/gms;

const blank = (text: string) => text.replace(/[^\s]/g, "_");
const unwrapped = (text: string) => text.replace(/\s+/g, " ");

/** The numbers that this file holds: the page as `problemsOf` reads it. */
export function numbersIn(text: string): readonly { readonly index: number; readonly length: number }[] {
  const isHeldElsewhere = (language: string, fence: string) =>
    /^(?:ts|mjs)$/.test(language) || (language === "text" && !/^\[[-+]\]/m.test(fence));
  const rest = text
    .replace(REGION, blank)
    .replace(LINKS, blank)
    .replace(FENCE, (fence, language) => (isHeldElsewhere(language, fence) ? blank(fence) : fence))
    .replace(/<!--=[\w.-]+-->\d[\d,.]*(?: min \d+ s)?/g, blank);
  return Array.from(rest.matchAll(NUMBER), ({ 0: number, index }) => ({ index, length: number.length }));
}

/** What is wrong with the numbers of a page, beside those that scripts/pages.mjs writes. */
export function problemsOf(page: string, text: string): readonly string[] {
  const fences = Array.from(text.matchAll(FENCE), ([, language = "", content = ""]) => ({
    language,
    content,
  }));
  const commands = (fence: string, language: string) =>
    language === "sh" || isWorkflow(fence) ? fence : blank(fence);
  let rest = text.replace(REGION, blank).replace(FENCE, commands).replace(MARKED, "§");
  for (const pattern of FREE) rest = rest.replace(pattern, blank);
  rest = unwrapped(rest);
  const claims = CLAIMS[page] ?? [];
  const lacking = claims.filter((claim) => !rest.includes(claim));
  for (const claim of claims) rest = rest.replaceAll(claim, claim.replace(/\d/g, "_").replace(WORDED, blank));
  const loose = [NUMBER, WORDED].flatMap((pattern) =>
    Array.from(rest.matchAll(pattern), ({ index }) => rest.slice(Math.max(0, index - 40), index + 30)),
  );
  return [
    ...fenceProblems(page, fences),
    ...STEPS.flatMap((pattern) => stepsOutOfOrder(text, pattern)).map(
      (step) => `${page}: "${step}" is out of order`,
    ),
    ...lacking.map((claim) => `${page} does not say "${claim}"`),
    ...loose.map((context) => `${page} has a number without a source: "${context}"`),
  ];
}

function stepsOutOfOrder(text: string, pattern: RegExp): readonly string[] {
  const steps = Array.from(text.matchAll(pattern), ([marker, number]) => ({
    marker,
    number: Number(number),
  }));
  return steps
    .filter(({ number }, at) => number !== 1 && number !== (steps[at - 1]?.number ?? 0) + 1)
    .map(({ marker }) => marker.trim());
}
