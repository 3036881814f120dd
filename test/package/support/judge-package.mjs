// node judge-package.mjs TARBALL: what arethetypeswrong and publint find wrong with it, as JSON. A program of its own,
// since both are ES modules, which jest's sandbox does not load.
import { readFileSync } from "node:fs";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const [tarball] = process.argv.slice(2);
const bytes = readFileSync(tarball);

const { problems, entrypoints } = await checkPackage(createPackageFromTarballData(bytes));
const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
const found = {
  entrypoints: Object.keys(entrypoints),
  types: problems,
  package: messages.map((message) => formatMessage(message, pkg, { color: false })),
};
process.stdout.write(JSON.stringify(found));
