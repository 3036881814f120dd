import type { Taint } from "../../../../node-readiness/node-api";
import { taintText } from "../../../../node-readiness/startup-taint";
import { also, check, problem } from "../../findings/finding";
import { keyFrom, listFrom, type Truth } from "../../findings/seen";
import { shellWord } from "../../findings/words";
import { isYoung } from "../read/pod";
import { hasWord } from "../read/set";
import { driverNamed, isOneDriver, type RegistrarUnit } from "../read/units";
import type { ClusterFacts } from "./facts";
import { kubectl } from "./groups";
import { repelling } from "./set-wants";
import { inState, type Place } from "./state";

/** By its arguments, or as the drivers that remove theirs themselves call it. */
function isStartupTaint({ key, effect }: Taint, { driver, set }: RegistrarUnit): Truth {
  const [, prefix = "", rest] = /^(.*?)\/(.*)$/s.exec(key) ?? [];
  const isIn = (name: string) => hasWord(set, name).or(hasWord(set, `${name}:${effect}`));
  const isOwn = isIn(`{driver}/${rest}`).or(rest === "agent-not-ready");
  return isIn(key).or(isOneDriver(driver, driverNamed(prefix)).and(isOwn));
}

/** While a startup taint is there, only pods that tolerate it come to the node. */
export const startupTaints = check<ClusterFacts>("CSI213", "startup-taints", (facts) => {
  const { nodeAt, places, units, nowMs, target } = facts;
  const taintsOn = (node: string, unit: RegistrarUnit) =>
    nodeAt(node)
      .filter((one) => one.ready === "True" && !isYoung(one, nowMs))
      .flatMap(({ taints }) => listFrom(taints).filter((taint) => isStartupTaint(taint, unit)));
  const isLong = ({ pods }: Place) =>
    pods.contains(({ started }) => started.contains((createdMs) => !isYoung({ createdMs }, nowMs)));
  const left = places
    .filter((place) => inState("registered")(place).and(isLong(place)))
    .flatMap(({ node, driver, units }) =>
      units.flatMap((unit) =>
        node === undefined
          ? undefined
          : taintsOn(node, unit).map((taint) => ({ node, driver, word: taintText(taint) })),
      ),
    )
    .grouped(({ driver, word }) => keyFrom(driver, word));
  return [
    left.map((group) => {
      const { driver, word, node } = group.first;
      const text = `is registered, and its startup taint ${word} is still there: pods that do not tolerate it stay away`;
      const fix = kubectl(
        "see the log of the program that removes it, and its right to patch nodes; or remove it",
        target,
        "taint node",
        node,
        ` ${shellWord(word)}-`,
      );
      return also(problem(driver, text, fix), { nodes: group });
    }),
    units.map((unit) => judgeTolerations(unit, facts)),
  ];
});

function judgeTolerations(unit: RegistrarUnit, { nodes }: ClusterFacts) {
  const tainted = nodes.flatMap((node) =>
    repelling(unit.set, node)
      .filter((one) => isStartupTaint(one, unit))
      .map((taint) => ({ node: node.name, key: taint.key, word: taintText(taint) })),
  );
  const { object } = unit.registrar.about;
  return tainted.together().map((all) => {
    const { word, key } = all.first;
    const fix = `add to the tolerations of its pod template: {key: ${key}, operator: Exists}`;
    const text = `does not tolerate its driver's startup taint ${word}: its pods do not come to the node, and the taint stays`;
    const cause = {
      kind: "trouble",
      driver: unit.driver,
      trouble: "uncovered",
      object,
      word,
    } as const;
    return also(problem(`DaemonSet ${unit.set.name}`, text, fix, cause), { nodes: all });
  });
}
