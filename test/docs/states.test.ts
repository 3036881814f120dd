import { STATE_NAMES } from "../../src/registrar/model/state";
import { EVENT_KINDS, leadsTo } from "../support/registration-states";
import { codeOf, fencesIn, readText, rowsIn, sectionOf } from "./markdown";

const text = readText("docs/how-it-works.md");

/** The arrows of the picture, as `from event to`; one from a group of states stands for one from each. */
function drawnArrows(picture: string): readonly string[] {
  const groups = new Map(
    Array.from(picture.matchAll(/state "[^"]*" as (\w+) \{(.*?)\}/gs), ([, name = "", inside = ""]) => {
      const ends = Array.from(inside.matchAll(/^ +(\w+) --> (\w+)/gm), ([, one = "", other = ""]) => [
        one,
        other,
      ]);
      return [name, [...new Set(ends.flat())]];
    }),
  );
  const arrows = picture.matchAll(/^ +(\w+) --> (\w+) : (.+)$/gm);
  return Array.from(arrows).flatMap(([, from = "", to = "", events = ""]) =>
    (groups.get(from) ?? [from]).flatMap((one) => events.split(", ").map((event) => `${one} ${event} ${to}`)),
  );
}

test("the picture has the arrows of the state machine, and no others", () => {
  const [picture = ""] = fencesIn(text, "mermaid");
  const arrows = STATE_NAMES.flatMap((from) =>
    EVENT_KINDS.flatMap((kind) => {
      const to = leadsTo(from, kind);
      return to === undefined ? [] : [`${from} ${kind} ${to}`];
    }),
  );
  expect([...drawnArrows(picture)].sort()).toEqual(arrows.sort());
});

test("the table has every state, in the order of a registration's life", () => {
  const named = rowsIn(sectionOf(text, "The states")).map(([state]) => codeOf(state));
  expect(named).toEqual(STATE_NAMES);
});
