import { resolve } from "node:path";
import { FLAG, runWithFlags, TEXT } from "../support/run-main";
import { createTempFolder } from "../support/temp-folder";
import { buildPrograms } from "./support/build";
import { chooseImageNode, makeImages } from "./support/images";
import { checkMachine } from "./support/machine";
import { inOwnCluster } from "./support/own-cluster";
import { rolesOf } from "./support/play";
import { writePage } from "./support/results";
import { SCENARIOS } from "./support/scenarios";

const USAGE = `usage: npm run test:cluster -- [--plays N] [--only PATTERN] [--write]

Runs the suite in a cluster of its own, which needs root on Linux and builds Kubernetes the first time.

  --plays N        so many plays of each timed scenario (1)
  --only PATTERN   only tests whose name has it
  --outcomes FILE  adds the outcomes of scenarios to this file, whatever it has already
  --write          writes them into bench/NOTES.md when all is done

  OFFICIAL_REGISTRAR=PATH   the official registrar's binary, to be played beside ours
  IMAGE_NODE=PATH           the Node of our image, in place of the newest release of its line from npm
  CONTROL_PLANE_KUBERNETES=PATH, NODE_KUBERNETES=PATH
                            program/kubernetes, built with another release in go.mod: for a control plane newer than the node
`;

const OPTIONS = { plays: TEXT, only: TEXT, outcomes: TEXT, write: FLAG };

runWithFlags(USAGE, OPTIONS, async (values) => {
  const only = values.only ? [`--testNamePattern=${values.only}`] : [];
  const flags = ["--config=test/cluster/jest.config.js", "--runInBand", ...only];
  const jest = [process.execPath, "node_modules/jest/bin/jest.js", ...flags];
  await using folder = await createTempFolder();
  const outcomes = values.outcomes === undefined ? folder.at("outcomes") : resolve(values.outcomes);
  const variables = { CLUSTER_PLAYS: values.plays ?? "1", CLUSTER_OUTCOMES: outcomes };
  checkMachine();
  await chooseImageNode();
  await buildPrograms();
  const code = await inOwnCluster(jest, await makeImages(), variables);
  const titles = [...new Set(SCENARIOS.flatMap(rolesOf).map(({ title }) => title))];
  if (values.write) writePage(outcomes, titles);
  return code;
});
