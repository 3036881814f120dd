import { attempt, errnoOf, invalidOption, messageOf, type RegistrarError } from "../../../base/errors";
import { fieldsWith, type Unlike } from "../../../kube-api/objects";
import { grouped, sortedBy } from "./grouped";

// An unread list never counts as an empty one: these types have no conversion from one to the other.

/** What keeps a file, a document of it or an object from being judged. */
export type Flaw =
  | ("no-files" | "pipe" | "large" | "encoding" | "empty")
  | ("document-size" | "dashes" | "directive" | "no-object" | "template")
  | ("patch" | "custom" | "parameter" | "placeholder" | "values" | "long" | "deep" | "variables");

/** Why something could not be read. */
export type Why =
  /** `at`: which one, where it is, or how many. */
  | { readonly kind: "flaw"; readonly flaw: Flaw; readonly at: string }
  | { readonly kind: "errno"; readonly errno: string }
  | { readonly kind: "mount"; readonly fileSystem: string }
  | { readonly kind: "cut"; readonly read: number; readonly there: number }
  /** It changes each time that it is read. */
  | { readonly kind: "moving" }
  /** Directories beyond the depth that is searched; `from`: the directory, or the link that leads to it. */
  | { readonly kind: "deep"; readonly from: string }
  /** The same, where nothing has to be searched. */
  | { readonly kind: "aside" }
  /** The doctor itself had no CPU to read the answer to a call. */
  | { readonly kind: "starved" }
  | ({ readonly kind: "call" } & CallFailure)
  /** A list of the API, in the server's or the connection's words; or one object of it. */
  | { readonly kind: "list"; readonly failure: string; readonly message: string }
  | { readonly kind: "object"; readonly text: string }
  /** `fields`: of the object; several with an equal value, or none that is known. */
  | ({ readonly kind: "unlike"; readonly fields: readonly string[] } & Pick<Unlike, "has" | "wanted">)
  | { readonly kind: "fault"; readonly error: string };

export interface CallFailure {
  readonly call: string;
  /** As Go writes it: `DeadlineExceeded`. */
  readonly code: string;
  readonly message: string;
  /** The doctor gave up earlier than its usual caller would. */
  readonly gaveUp?: { readonly afterMs: number; readonly who: string; readonly waitsMs: number } | undefined;
}

/** Something that could not be read. `part` decides which check says so, and whether the user asked for it. */
export interface Gap<Part extends string = string> {
  readonly part: Part;
  readonly subject: string;
  readonly why: Why;
}

export interface Unread<Part extends string = string> {
  readonly kind: "unread";
  readonly gap: Gap<Part>;
}

type Gaps = readonly [Gap, ...Gap[]];
interface Arms<Y, N, U> {
  readonly yes: () => Y;
  readonly no: () => N;
  readonly unknown: (gaps: Gaps) => U;
}
type Answers<Y, N, U> = Arms<Y, N, U & NotSure<U>>;

/**
 * TypeScript refuses what passes for a known answer: a finding that is ok or a problem, or may be one, undefined, a boolean, a
 * number, an empty list. Say `withheld`, `unknown(...)`, a text, or null in a row.
 */
type NotSure<U> = [Known<U>] extends [never] ? unknown : never;
type Known<U> = undefined extends U
  ? U
  : U extends boolean | number
    ? U
    : U extends readonly (infer One)[]
      ? [One] extends [never]
        ? U
        : One extends readonly unknown[]
          ? One
          : Found<One>
      : Found<U>;
type Found<U> = U extends { readonly status: infer S } ? S & Sure : never;
type Sure = "ok" | "problem";
/** The same type where the answer is unknown: judges write the type of all three as `<Verdict | undefined>`. */
type Unsure<Y> = Y extends { readonly status: infer S }
  ? Y & { readonly status: Exclude<S, Sure> }
  : Y extends Known<Y>
    ? Withheld
    : Y;

/** The same where the answer is no, and where it is unknown. */
export const otherwise = <R>(say: () => R) => ({ no: say, unknown: say });

/** What is said only if the answer is yes. */
export const ifYes = <One>(isSo: Truth, say: () => Said<One>): SeenList<Said<One>> =>
  isSo({ yes: () => listOf([say()], []), ...otherwise(() => withheld) });

/** What is said for another reason, also where the answer is unknown. */
export const evenSo = <R>(say: () => R) => say as () => never;
/** What is said unless the answer is yes, also where it is unknown. */
export const orElse = <R>(say: () => R) => ({ no: say, unknown: evenSo(say) });

/**
 * An answer to a question: yes, no or unknown. Call it with what each of the three means. It is a function, so that TypeScript
 * refuses it as a condition; test/tools/doctor/findings/escapes.mjs finds what TypeScript cannot refuse, such as `!answer`.
 */
export interface Truth {
  <Y, N = Y, U = Unsure<Y>>(answers: Answers<Y, N, U>): Y | N | U;
  not(): Truth;
  or(other: boolean | Truth): Truth;
  and(other: boolean | Truth): Truth;
}

type IsSo<Item> = (item: Item) => boolean | Truth;
type Some<R> = R | readonly R[] | undefined;

/**
 * The items of a list that could be read, and which parts could not. It has no length, no index and no iterator: whether an
 * item is absent is a question, with the answer unknown where a part of the list could not be read.
 */
export interface SeenList<Item> {
  /** What follows from the items that were seen, if there is one; there may be others. */
  some<Y, N = Y, U = Unsure<Y>>(
    answers: Omit<Answers<Y, N, U>, "yes"> & { readonly yes: (items: readonly [Item, ...Item[]]) => Y },
  ): Y | N | U;
  /** Yes beats unknown, unknown beats no. Without a question: whether it contains anything. */
  contains(isSo?: IsSo<Item>): Truth;
  map<R>(change: (item: Item) => R): SeenList<R>;
  flatMap<R>(change: (item: Item) => Some<R> | SeenList<R>): SeenList<R>;
  /** An item of which the answer is unknown is left out, and leaves its gap. */
  filter(isSo: IsSo<Item>): SeenList<Item>;
  with(more: readonly Item[] | SeenList<Item>): SeenList<Item>;
  /** In groups, as far as the items were seen. */
  grouped(keyOf: (item: Item) => string): SeenList<readonly [Item, ...Item[]]>;
  /** The items with a key. If keys are unique, the list of one that was seen lacks nothing. */
  by(keyOf: (item: Item) => string, keys?: "unique"): (key: string) => SeenList<Item>;
  sorted(keyOf: (item: Item) => string): SeenList<Item>;
}

/** It passes for a list, and for nothing else. */
export interface Withheld extends SeenList<never> {}

/** The field of a list that has its items and gaps; only other lists read it. */
const INSIDE = Symbol("inside");

type Answer = "yes" | "no" | Gaps;

export const truth = (answer: boolean | Gap): Truth =>
  truthOf(typeof answer === "boolean" ? (answer ? "yes" : "no") : [answer]);

function truthOf(answer: Answer): Truth {
  return answer === "yes" ? YES : answer === "no" ? NO : newTruth(answer);
}

function newTruth(answer: Answer): Truth {
  const not = () => truthOf(answer === "yes" ? "no" : answer === "no" ? "yes" : answer);
  const or = (other: boolean | Truth) => truthOf(eitherOf(answer, answerOf(other)));
  return Object.assign(<Y, N, U>(answers: Answers<Y, N, U>) => sayBy(answer, answers), {
    not,
    or,
    and: (other: boolean | Truth) =>
      not()
        .or(typeof other === "boolean" ? !other : other.not())
        .not(),
  });
}

function sayBy<Y, N, U>(answer: Answer, { yes, no, unknown }: Arms<Y, N, U>): Y | N | U {
  if (answer === "yes") return yes();
  return answer === "no" ? no() : unknown(answer);
}

const [YES, NO] = [newTruth("yes"), newTruth("no")];

function answerOf(asked: boolean | Truth): Answer {
  if (typeof asked === "boolean") return asked ? "yes" : "no";
  return asked<Answer>({ yes: () => "yes", no: () => "no", unknown: (gaps) => gaps });
}

function eitherOf(one: Answer, other: Answer): Answer {
  if (one === "yes" || other === "yes") return "yes";
  if (one === "no") return other;
  return other === "no" ? one : (union<Gap>([one, other]) as readonly Gap[] as Gaps);
}

const union = <One>(lists: readonly (readonly One[])[]): readonly One[] => [...new Set(lists.flat())];

const isList = (value: unknown): value is SeenList<never> =>
  typeof value === "object" && value !== null && INSIDE in value;

function insideOf<Item>(value: Some<Item> | SeenList<Item>) {
  if (isList(value)) return Reflect.get(value, INSIDE) as { items: readonly Item[]; gaps: readonly Gap[] };
  const items = (value === undefined ? [] : Array.isArray(value) ? value : [value]) as readonly Item[];
  return { items, gaps: [] };
}

function listOf<Item>(items: readonly Item[], gaps: readonly Gap[]): SeenList<Item> {
  const flatMap = <R>(change: (item: Item) => Some<R> | SeenList<R>) => {
    const insides = items.map((item) => insideOf(change(item)));
    return listOf(
      insides.flatMap((one) => one.items),
      union([gaps, ...insides.map((one) => one.gaps)]),
    );
  };
  const list: SeenList<Item> = {
    some: (answers) =>
      sayBy(answerOf(list.contains()), { ...answers, yes: () => answers.yes(items as [Item, ...Item[]]) }),
    contains: (isSo = () => true) => {
      const answers = items.map((item) => answerOf(isSo(item)));
      return truthOf(answers.reduce(eitherOf, gaps.length > 0 ? (gaps as Gaps) : "no"));
    },
    map: (change) => listOf(items.map(change), gaps),
    flatMap,
    filter: (isSo) =>
      flatMap((item) => {
        const answer = answerOf(isSo(item));
        return typeof answer === "string" ? (answer === "yes" ? [item] : []) : listOf<Item>([], answer);
      }),
    with: (more) => listOf(items.concat(insideOf(more).items), union([gaps, insideOf(more).gaps])),
    grouped: (keyOf) => listOf([...grouped(items, keyOf).values()], gaps),
    by: (keyOf, keys) => {
      const [groups, none] = [grouped(items, keyOf), listOf<Item>([], gaps)];
      return (key) => {
        const found = groups.get(key);
        return found === undefined ? none : listOf(found, keys === "unique" ? [] : gaps);
      };
    },
    sorted: (keyOf) => listOf(sortedBy(items, keyOf), gaps),
  };
  return Object.assign(list, { [INSIDE]: { items, gaps } });
}

/** Nothing is said of what is unknown: another finding says what could not be read. */
export const withheld: Withheld = listOf([], []);
export const nothing = () => undefined;

export type Reading<Part extends string> = ReturnType<typeof startReading<Part>>;

/** The only maker of things with gaps: the report has what a reader leaves out. */
export function startReading<Part extends string>() {
  const all = new Set<Gap<Part>>();
  const told = (gap: Gap<Part>) => {
    all.add(gap);
    return gap;
  };
  return {
    gaps: (): readonly Gap<Part>[] => [...all],
    list: <Item>(items: readonly Item[], gaps: readonly Gap<Part>[] = []): SeenList<Item> =>
      listOf(items, gaps.map(told)),
    unread: (gap: Gap<Part>): Unread<Part> => ({ kind: "unread", gap: told(gap) }),
  };
}

/** The items that were seen: for readers and reports, which say what is unread. No judge may ask for them. */
export const itemsOf = <Item>(list: SeenList<Item>): readonly Item[] => insideOf(list).items;

export type Said<One> = One | undefined | SeenList<Said<One>> | readonly Said<One>[];

/** What is said, list by list, as one report. */
export const saidIn = <One>(said: Said<One>): readonly One[] =>
  insideOf<Said<One>>(said).items.flatMap((one) =>
    isList(one) || Array.isArray(one) ? saidIn<One>(one) : ((one ?? []) as One),
  );

/** The same, each changed or left out. */
export const changed = <One, Other>(said: Said<One>, change: (one: One) => Said<Other>): Said<Other> =>
  saidIn(said).map(change);

/** Whether a list lacks nothing: yes, or unknown. */
export const isWhole = (list: SeenList<unknown>): Truth => list.contains(() => false).not();

/** What was seen, or not, as a list. */
export const listFrom = <Item>(found: readonly Item[] | Unread): SeenList<Item> =>
  "gap" in found ? listOf([], [found.gap]) : listOf(found, []);

/** One thing as judges get it: call it with what follows from it, and with what is said if it could not be read. */
export interface Seen<T> {
  <S, U = Unsure<S>>(arms: { seen: (value: T) => S; unread: (gap: Gap) => U & NotSure<U> }): S | U;
  /** Unknown if it could not be read. */
  is(isSo: IsSo<T>): Truth;
  /** What is made of it: none where it could not be read. */
  map<R>(change: (value: T) => R): SeenList<R>;
  items<R>(change: (value: T) => Some<R> | SeenList<R>): SeenList<R>;
}

/** The first of these that could not be read, or the last one. */
export function looked<T>(...found: readonly [...unknown[], T]): Seen<Exclude<T, Unread>> {
  const unread = found.find((one): one is Unread => (one as Partial<Unread> | undefined)?.kind === "unread");
  const value = found.at(-1) as Exclude<T, Unread>;
  const { contains, flatMap, map } = unread ? listOf([], [unread.gap]) : listOf([value], []);
  const look = <S, U>(arms: { seen: (value: Exclude<T, Unread>) => S; unread: (gap: Gap) => U }) =>
    unread ? arms.unread(unread.gap) : arms.seen(value);
  return Object.assign(look, { is: contains, map, items: flatMap }) as Seen<Exclude<T, Unread>>;
}

/** All items of these lists, if all were seen. */
export function wholes<Items extends readonly unknown[]>(
  ...lists: { readonly [At in keyof Items]: SeenList<Items[At]> }
) {
  const unread = lists.flatMap((list) =>
    insideOf<unknown>(list).gaps.map((gap) => ({ kind: "unread", gap })),
  );
  return looked(...unread, lists.map(itemsOf) as { [At in keyof Items]: readonly Items[At][] });
}
export type ItemOf<List> = List extends SeenList<infer Item> ? Item : never;

/** Throws an error of which {@link whyOf} makes this flaw. */
export function refuseFlaw(flaw: Flaw, at: string | number = ""): never {
  throw invalidOption(flaw, { cause: { kind: "flaw", flaw, at: at.toLocaleString("en") } satisfies Why });
}

/** An error that is neither the file system's nor one of ours about what was read, as an `object`, is a fault of ours. */
export function whyOf(error: unknown, object?: unknown): Why {
  const errno = errnoOf(error);
  if (errno !== undefined) return { kind: "errno", errno };
  if (error instanceof RangeError) return { kind: "flaw", flaw: "deep", at: "" };
  const { code, cause } = Object(error) as Partial<RegistrarError>;
  if (code !== "INVALID_OPTION") return { kind: "fault", error: String(error) };
  const why = cause as Why | Unlike | undefined;
  if (why?.kind === "unlike" && "value" in why) {
    const { kind, has, wanted, value } = why;
    return { kind, has, wanted, fields: attempt(() => fieldsWith(value, object)) ?? [] };
  }
  return why?.kind === "flaw" ? why : { kind: "object", text: messageOf(error) };
}
