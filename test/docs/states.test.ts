import {
  type RegistrationEvent,
  type RegistrationState,
  transition,
} from "../../src/registrar/registration/state";
import { codeIn, fencesIn, readText, rowsIn, sectionOf } from "./markdown";

const text = readText("docs/how-it-works.md");

/** Every state and event there is: the compiler sees to it that none is missing. */
const STATES = Object.keys({
  waiting: 0,
  publishing: 0,
  listening: 0,
  asked: 0,
  registered: 0,
  refused: 0,
  standby: 0,
  stopping: 0,
  stopped: 0,
} satisfies Record<RegistrationState, 0>) as RegistrationState[];
const EVENTS = Object.keys({
  "driver-named": 0,
  "driver-renamed": 0,
  "driver-restarted": 0,
  published: 0,
  "socket-gone": 0,
  "socket-dead": 0,
  "socket-taken": 0,
  "kubelet-silent": 0,
  "get-info": 0,
  accepted: 0,
  refused: 0,
  "already-registered": 0,
  retry: 0,
  "peer-gone": 0,
  stop: 0,
  closed: 0,
} satisfies Record<RegistrationEvent["kind"], 0>);

/** The arrows of the picture, as `from event to`; one from a group of states stands for one from each. */
function drawnArrows(picture: string): readonly string[] {
  const groups = new Map(
    Array.from(picture.matchAll(/state "[^"]*" as (\w+) \{(.*?)\}/gs), ([, name = "", inside = ""]) => [
      name,
      [
        ...new Set(
          Array.from(inside.matchAll(/^ +(\w+) --> (\w+)/gm), ([, one = "", other = ""]) => [
            one,
            other,
          ]).flat(),
        ),
      ],
    ]),
  );
  const arrows = picture.matchAll(/^ +(\w+) --> (\w+) : (.+)$/gm);
  return Array.from(arrows).flatMap(([, from = "", to = "", events = ""]) =>
    (groups.get(from) ?? [from]).flatMap((one) => events.split(", ").map((event) => `${one} ${event} ${to}`)),
  );
}

test("the picture has the arrows of the state machine, and no others", () => {
  const [picture = ""] = fencesIn(text, "mermaid");
  const arrows = STATES.flatMap((from) =>
    EVENTS.flatMap((kind) => {
      const to = transition(from, { kind } as RegistrationEvent);
      return to === undefined ? [] : [`${from} ${kind} ${to}`];
    }),
  );
  expect([...drawnArrows(picture)].sort()).toEqual(arrows.sort());
});

test("the table has every state, in the order of a registration's life", () => {
  const named = rowsIn(sectionOf(text, "The states")).map(([state = ""]) => codeIn(state).join());
  expect(named).toEqual(STATES);
});
