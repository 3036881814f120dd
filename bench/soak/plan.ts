import { createRandom } from "../../test/support/random";
import { DRIVERS, ROLES } from "./cast";

/** What can be done to the node, as the report calls it. */
export const TITLES = {
  "kubelet-restarts": "kubelet is killed, and restarts after 0 to 3 s",
  "kubelet-dies-at-work":
    "kubelet dies between GetInfo and its status report, the socket is removed meanwhile",
  "socket-removed": "a registration socket is removed",
  "all-sockets-removed": "every registration socket is removed",
  "directory-anew": "the plugin registration directory is removed, a new kubelet creates it again",
  "driver-restarts": "a driver is killed or stopped, and restarts at once",
  "driver-away": "a driver is away for 1 to 6 s",
  "driver-hangs": "a driver hangs for 1 to 4 s while kubelet registers it",
  "kubelet-refuses": "kubelet refuses a driver one to three times",
  "crowd-comes": "90 idle and hostile connections to a registration socket, which is then removed",
  "peer-comes": "another registrar of a driver comes, and takes its place",
  "peer-stops": "the other registrar gets SIGTERM",
  "peer-killed": "the other registrar gets SIGKILL",
  "registrar-stops": "a registrar gets SIGTERM and is started again",
  "registrar-killed": "a registrar gets SIGKILL and is started again",
  "registrar-replaced": "a registrar's successor starts, then it gets SIGTERM (rolling update)",
} as const;

export type Kind = keyof typeof TITLES;

export interface Step {
  /** From 1 on. */
  readonly number: number;
  readonly kind: Kind;
  /** The driver that it happens to, if it is about one. */
  readonly driver: string;
  /** The name of the role, if it is about a registrar. */
  readonly registrar: string;
  /** From 0 up to 1: how much of it, how long. */
  readonly amount: number;
  /** Before it; anywhere in kubelet's loop of one second. Milliseconds. */
  readonly waitMs: number;
  /** The next one follows at once, before the node has settled. */
  readonly inHaste: boolean;
}

/** With more peers at a time the roles would hardly hold any registration. */
const MOST_PEERS = 2;
const HASTE = 0.2;

/**
 * The disturbances that follow from a seed, without end. Every kind comes once before any comes again, except that a peer
 * comes instead of going if there is none.
 */
export function* createPlan(seed: number): Generator<Step, never> {
  const random = createRandom(seed);
  const pick = <One>(choices: readonly One[]): One => choices[Math.floor(random() * choices.length)] as One;
  const restless = ROLES.filter(({ temper }) => temper === "restless").map(({ name }) => name);
  const kinds = Object.keys(TITLES) as Kind[];
  const peers = new Set<string>();
  for (let number = 1, deck: Kind[] = []; ; number++) {
    if (deck.length === 0) deck = shuffled(kinds, random);
    let kind = deck.pop() as Kind;
    if (kind === "peer-comes" && peers.size >= MOST_PEERS)
      kind = pick(["peer-stops", "peer-killed"] as const);
    if ((kind === "peer-stops" || kind === "peer-killed") && peers.size === 0) kind = "peer-comes";
    let driver = pick(DRIVERS);
    if (kind === "peer-comes") {
      driver = pick(DRIVERS.filter((one) => !peers.has(one)));
      peers.add(driver);
    } else if (kind === "peer-stops" || kind === "peer-killed") {
      driver = pick([...peers]);
      peers.delete(driver);
    }
    yield {
      number,
      kind,
      driver,
      registrar: pick(restless),
      amount: random(),
      waitMs: Math.floor(random() * 1_000),
      inHaste: random() < HASTE,
    };
  }
}

/** Fisher and Yates' shuffle. */
function shuffled<One>(cards: readonly One[], random: () => number): One[] {
  const deck = [...cards];
  for (let left = deck.length - 1; left > 0; left--) {
    const other = Math.floor(random() * (left + 1));
    [deck[left], deck[other]] = [deck[other] as One, deck[left] as One];
  }
  return deck;
}

/** A step in a few words, for the log of a run. */
export function stepText({ number, kind, driver, registrar, amount, inHaste }: Step): string {
  const whom = kind.startsWith("registrar-") ? registrar : ABOUT_ALL.includes(kind) ? "" : driver;
  return [`step ${number}: ${kind}`, whom, amount.toFixed(2), inHaste ? "in haste" : ""]
    .filter((word) => word !== "")
    .join(" ");
}

const ABOUT_ALL: readonly Kind[] = ["kubelet-restarts", "all-sockets-removed", "directory-anew"];
