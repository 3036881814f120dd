import { type Cause, causeKey, type OfContainer } from "./causes";
import { beyond, lackedIn } from "./gap";
import {
  type Closed,
  close,
  insideOf,
  itemsOf,
  type Key,
  type Lacking,
  lackIn,
  open,
  type Said,
  saidIn,
  type Told,
  tell,
  textOf,
  toldOf,
  type Words,
  wordingOf,
} from "./opened";
import { changed, type Group, keyFrom, listFrom, placedAt, type SeenList, type Text, withheld } from "./seen";
import type { Inside } from "./shapes";
import type { Sentence, Status, Verdict } from "./verdict";

export type { Sentence, Status, Verdict } from "./verdict";

export interface Finding extends Sentence {
  readonly code: string;
  readonly check: string;
}

/** What a check says: of one thing, of several, or nothing if the question does not arise. */
export type Verdicts = Said<Verdict>;

export type Check<Seen> = ReturnType<typeof check<Seen>>;

/**
 * One question to the facts, and what each answer means. Programs and links go by the code and the name, which are stable;
 * together they are a heading in docs/doctor-codes.md.
 */
export const check = <Seen>(code: string, name: string, verdicts: (facts: Seen) => Verdicts) =>
  ({ code, name, verdicts }) as const;

/** What to do, and the command for it: together they are a sentence. */
export interface Run {
  readonly fix: string;
  readonly command: string;
}
export type Advice = string | Run | Told<string | Run>;
type Because = Cause | undefined | Told<Cause | undefined>;
type SayWithFix<S extends Status> = (subject: Text, text: Text, fix: Advice, cause?: Because) => Verdict<S>;

const say =
  <S extends Status>(status: S) =>
  (
    subject: Text | Lacking,
    text: Text | Lacking,
    fix?: Advice | Told<string | Run | undefined>,
    cause?: Because,
  ): Verdict<S> => {
    const advice = tell<string | Run | undefined>(fix);
    const { gaps, isSaid } = wordingOf(subject, text);
    const isLacking = gaps.length > 0;
    const more = isSaid === false ? NOT_ALL : "";
    return close(
      {},
      {
        status: isLacking && status === "ok" ? ("unknown" as S) : status,
        subject: tell<string>(subject as string),
        ...{ text: tell<string>(text as string) + more, isLacking, cause: tell<Cause | undefined>(cause) },
        ...(typeof advice === "object" ? advice : { fix: advice }),
      },
    );
  };

const NOT_ALL = "; not everything could be read";

/** Where something in the text could not be read, this is unknown. */
export const ok: (subject: Text, text: Text) => Verdict<"ok" | "unknown"> = say<"ok" | "unknown">("ok");
export const skipped: SayWithFix<"skipped"> = say("skipped");
export const unknown = say("unknown");
export const warning: SayWithFix<"warning"> = say("warning");
export const problem: SayWithFix<"problem"> = say("problem");

/** What a finding has besides; `nodes`: those of these that have one. */
interface More {
  readonly about?: OfContainer;
  readonly cause?: Because;
  readonly subject?: Text;
  readonly nodes?: Closed<Inside<{ readonly node: string | undefined }>>;
}
export const also = <S extends Status>(
  verdict: Verdict<S>,
  { nodes, cause, subject, about }: More,
): Verdict<S> => {
  const { status, text, isLacking } = open(verdict);
  const lacksNodes = nodes !== undefined && lackedIn(open(nodes).gaps).length > 0;
  return close(
    {},
    {
      ...open(verdict),
      ...(subject && { subject: tell<string>(subject) }),
      ...(about && { about: { ...about, container: tell<string>(about.container) } }),
      status: lacksNodes && status === "ok" ? ("unknown" as S) : status,
      text: lacksNodes && !isLacking ? text + NOT_ALL : text,
      ...(cause && { cause: tell<Cause | undefined>(cause) }),
      ...(nodes && { nodes: [...new Set(itemsOf(nodes).flatMap(({ node }) => node ?? []))] }),
    },
  );
};

/**
 * Judges what has equal keys and causes together: a cause claims nothing. Where the key may lack something, all that is said is
 * unknown.
 */
export const judgeAlike = <
  Item extends { readonly driver: Key; readonly node: string | undefined },
  Alike extends Text | Lacking,
>(
  items: SeenList<Item>,
  alike: {
    keyOf: (item: Item) => Alike;
    causeOf: (item: Item) => Told<Cause>;
    setsOf: (driver: string) => SeenList<string>;
  },
  judge: (group: Group<Item>) => [Alike] extends [string] ? Verdicts : Said<Verdict<"unknown">>,
) =>
  items
    .grouped(
      (one) =>
        keyFrom(one.driver, tell<string>(alike.keyOf(one) as string), causeKey(tell(alike.causeOf(one)))),
      placedAt({ set: (key) => alike.setsOf(JSON.parse(key)[0]) }),
    )
    .map((group) => alsoEach(judge(group), { cause: alike.causeOf(group.first), nodes: group }));

export const alsoEach = (said: Verdicts, more: More) => changed(said, (one: Verdict) => also(one, more));

/** The same, where what could not be read decides on it. */
export const unsure = (verdict: Verdict, more = "", fix = open(verdict).fix): Verdict<"unknown"> =>
  close({}, { ...open(verdict), text: open(verdict).text + more, fix, status: "unknown" });

export const unsureEach = (said: Verdicts, more: string, fix?: string) =>
  changed(said, (one: Verdict) => unsure(one, more, fix));

/** The findings of these statuses as warnings, and what is unknown; the others are left out. */
export const softened = (said: Verdicts, ...statuses: readonly ("problem" | "warning")[]) =>
  changed(said, (one): Said<Verdict<"unknown" | "warning">> => {
    const { status, ...sentence } = open(one);
    if (status === "unknown") return close({}, { ...sentence, status });
    const isMeant = statuses.some((one) => one === status);
    return isMeant ? close({}, { ...sentence, status: "warning" as const }) : undefined;
  });

/** That of the first finding. */
export const causeIn = (said: Verdicts, other: Because): Told<Cause | undefined> => {
  const [first] = saidIn(said);
  return toldOf((first && open(first).cause) ?? tell<Cause | undefined>(other));
};

/** What is not well, each as a sentence; it lacks what could not be judged, or cannot be seen from here. */
export function troublesIn(said: Verdicts): SeenList<Words> {
  const all = saidIn(said).map(open);
  const bad = all.filter(({ status }) => status !== "ok" && status !== "skipped");
  const unseen = all.flatMap(({ status, subject }) => (status === "skipped" ? beyond("", subject) : []));
  const [gap, ...gaps] = lackIn(said)
    .map((one) => (one.why.kind === "aside" ? beyond(one.part, one.subject) : one))
    .concat(unseen);
  const texts = listFrom(bad.map(({ subject, text }) => textOf({ told: `${subject} ${text}`, gaps: [] })));
  return gap === undefined ? texts : texts.with(withheld([gap, ...gaps]));
}

export type Cell<Value> = Value | Words | Lacking | SeenList<Value & {}>;
/** A row; of a list it has the first item that was seen, or null. */
export const toldRow = <Row extends object>(
  cells: { readonly [Column in keyof Row]: Cell<Row[Column]> },
): Told<Row> =>
  toldOf(Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, cellOf(cell)])) as Row);
function cellOf(cell: unknown) {
  const inside = insideOf(cell);
  return inside && "items" in inside ? ((inside.items as readonly unknown[])[0] ?? null) : tell(cell);
}
