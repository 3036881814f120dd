/** A scrape, read by the letter of Prometheus' text format 0.0.4. */
export interface Scrape {
  /** The one sample with this name and exactly these labels; undefined where there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** All samples with this name. */
  samples(name: string): readonly Sample[];
  /** Type by metric name. */
  readonly types: ReadonlyMap<string, string>;
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const METRIC_NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = /(?<key>[a-zA-Z_][a-zA-Z0-9_]*)="(?<value>(?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const SAMPLE = new RegExp(`^(?<name>${METRIC_NAME})(?:\\{(?<labels>.*)\\})? (?<value>\\S+)$`);
const COMMENT = new RegExp(`^# (?<what>HELP|TYPE) (?<name>${METRIC_NAME}) (?<rest>.+)$`);
const NUMBER = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?Inf|NaN)$/;

/** Throws at the first breach, with the line. */
export function parsePrometheusText(text: string): Scrape {
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const samples: Sample[] = [];
  const series = new Set<string>();
  const finished = new Set<string>();
  let family: string | undefined;

  const enter = (name: string, line: string) => {
    if (name === family) return;
    if (family !== undefined) finished.add(family);
    if (finished.has(name)) throw new Error(`the lines of ${name} are not together: ${line}`);
    family = name;
  };

  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  for (const line of text.slice(0, -1).split("\n")) {
    if (line === "") continue;
    const { what, name: described = "", rest = "" } = COMMENT.exec(line)?.groups ?? {};
    if (what === "HELP") {
      enter(described, line);
      if (helps.has(described)) throw new Error(`a second HELP: ${line}`);
      helps.add(described);
    } else if (what === "TYPE") {
      enter(described, line);
      if (types.has(described)) throw new Error(`a second TYPE: ${line}`);
      if (!/^(?:counter|gauge|histogram|summary|untyped)$/.test(rest)) throw new Error(`no type: ${line}`);
      types.set(described, rest);
    } else {
      const sample = parseSample(line);
      enter(familyOf(sample.name, types, line), line);
      const key = sample.name + keyOf(sample.labels);
      if (series.has(key)) throw new Error(`a second time: ${line}`);
      series.add(key);
      samples.push(sample);
    }
  }
  for (const [name, type] of types) if (type === "histogram") checkHistogram(name, samples);
  return {
    types,
    samples: (name) => samples.filter((sample) => sample.name === name),
    value: (name, labels = {}) =>
      samples.find((sample) => sample.name === name && keyOf(sample.labels) === keyOf(labels))?.value,
  };
}

/** The same text for the same labels, in whatever order. */
function keyOf(labels: Sample["labels"]): string {
  return JSON.stringify(Object.entries(labels).sort());
}

function parseSample(line: string): Sample {
  const { name = "", labels: labelText = "", value = "" } = SAMPLE.exec(line)?.groups ?? {};
  if (name === "" || !NUMBER.test(value)) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let at = 0; at < labelText.length; at = LABEL.lastIndex) {
    LABEL.lastIndex = at;
    const { key, value: escaped = "" } = LABEL.exec(labelText)?.groups ?? {};
    if (key === undefined || key in labels) throw new Error(`bad labels: ${line}`);
    labels[key] = escaped.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
  }
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

/** The metric that a sample belongs to, which must have been typed before. */
function familyOf(sampleName: string, types: ReadonlyMap<string, string>, line: string): string {
  if (types.has(sampleName) && types.get(sampleName) !== "histogram") return sampleName;
  const base = sampleName.replace(/_(?:bucket|sum|count)$/, "");
  if (types.get(base) === "histogram" && base !== sampleName) return base;
  throw new Error(`no TYPE before: ${line}`);
}

/** Buckets rise, end with +Inf, and that one is the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const seriesOf = ({ labels: { le: _, ...rest } }: Sample) => keyOf(rest);
  for (const count of samples.filter((sample) => sample.name === `${name}_count`)) {
    const mine = samples.filter((sample) => seriesOf(sample) === seriesOf(count));
    const buckets = mine
      .filter((sample) => sample.name === `${name}_bucket`)
      .map(({ labels, value }) => ({ bound: Number(labels.le?.replace("Inf", "Infinity")), value }));
    for (const [index, { bound, value }] of buckets.entries()) {
      const before = buckets[index - 1];
      if (before && !(bound > before.bound && value >= before.value))
        throw new Error(`the buckets of ${name} do not rise`);
    }
    const last = buckets.at(-1);
    if (last?.bound !== Number.POSITIVE_INFINITY || last.value !== count.value)
      throw new Error(`the last bucket of ${name} is not its count`);
    if (!mine.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name} has no sum`);
  }
}
