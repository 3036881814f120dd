import { parseNameLists } from "../../../../src/registrar/node-wide/name-lists";
import { truth } from "../../../../src/tools/doctor/findings/seen";
import { renderTable, reportOn } from "../../../../src/tools/doctor/node/report";
import { byOutcome } from "../../../support/recorded";
import { inWholeWords } from "../findings/whole-words";
import {
  DRIVERS,
  driverAt,
  factsOf,
  type More,
  own,
  PAIRS,
  PATHS,
  PLUGINS,
  REGISTERED,
  REGISTRATIONS,
  SEVERAL,
} from "./changed-facts";
import { kubelet, MACHINE, other, registrar } from "./changed-machine";
import { WHOLE } from "./doctor-node";
import { healthyFacts } from "./healthy-facts";

// The whole report on healthy facts of which one is another, recorded: `npx jest -u test/tools/doctor/node/recorded` writes it
// anew. A recording has no finding that is there without the change, too.

const { target: byDefault } = healthyFacts();

function linesOf(more: More) {
  const { drivers, findings } = reportOn(factsOf(more));
  const rows = drivers.map((row) => ["row", ...Object.values(row).map((cell) => cell ?? "-")].join(" | "));
  const said = inWholeWords(findings).map(({ code, status, subject, text, fix, command, follows }) =>
    [`${code} ${status}${follows ? ` of ${follows}` : ""}: ${subject} ${text}`, fix, command]
      .filter(Boolean)
      .join(" -> "),
  );
  return [...rows, ...said];
}

const whole = { ...byDefault, ...WHOLE };

describe.each<readonly [what: string, base: More, make: (more: More) => More]>([
  ["a driver that is named", {}, (more) => more],
  [
    "a whole node",
    { target: whole, driver: undefined, drivers: [own] },
    ({ driver, drivers = [], target, ...more }) => ({
      ...more,
      ...{ target: { ...(target ?? byDefault), ...WHOLE }, driver: undefined },
      drivers: [...(driver ? [driver] : [own]), ...drivers],
    }),
  ],
])("%s", (_what, base, make) => {
  const before = linesOf(make(base));
  test.each<readonly [what: string, changes: Readonly<Record<string, More>>]>([
    ["its machine", MACHINE],
    ["its driver", DRIVERS],
    ["its paths", PATHS],
    ["its registration", REGISTERED],
    ["its driver and its registration", PAIRS],
    ["another driver beside it", SEVERAL],
  ])("%s", (_part, changes) => {
    // Another gap than one of sockets is the same for both.
    const isMeant = ([one]: readonly [string, More]) =>
      base.target !== whole || !/^a gap of (?!sockets)/.test(one);
    const rows = Object.entries(changes)
      .filter(isMeant)
      .map(([what, more]) => {
        const now = linesOf(make(more));
        const gone = before
          .filter((line) => !now.includes(line))
          .map((line) => line.replace(/:.*|(?<=row).*/s, ""));
        const added = now.filter((line) => !before.includes(line));
        const outcome = [...added, ...(gone.length === 0 ? [] : [`without ${gone.join(", ")}`])];
        return [what, outcome.join("\n") || "the same"] as const;
      });
    expect(`${before.join("\n")}\n\n${byOutcome(rows)}`).toMatchSnapshot();
  });
});

test("the report of a node with everything at a time", () => {
  const drivers = ["y.csi", "z.csi"].map((name) => driverAt(`${PLUGINS}/${name}/csi.sock`, name, {}, name));
  const facts = factsOf({
    ...{
      target: {
        ...whole,
        pattern: "/plugins/*/csi.sock",
        names: parseNameLists({ allow: ["x.csi", "y.csi=/nowhere"], deny: ["z.csi"] }),
      },
      driver: undefined,
    },
    drivers: [...drivers, own],
    registrations: [
      ...(REGISTRATIONS["refused: invalid node name"] ?? []),
      ...(REGISTRATIONS["a DRA plugin of ours"] ?? []),
    ],
    registrars: [registrar({ isNodeWide: true }), other],
    kubelets: [kubelet({ isDeaf: truth(true) })],
  });
  const made = reportOn(facts);
  expect(JSON.stringify({ ...made, findings: made.findings.length }, null, 1)).toMatchSnapshot();
  for (const width of [80, 160]) expect(renderTable(made, { width, colors: false })).toMatchSnapshot();
});
