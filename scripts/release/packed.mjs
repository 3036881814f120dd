// What scripts/pack.mjs changes in the files of a checkout, so that the job that publishes can tell whether it did nothing else.
import { dirname, join } from "node:path";

/** Fields that only a clone needs. */
const OF_A_CLONE = ["scripts", "devDependencies", "allowScripts"];

/** package.json of the package: it has no scripts and no list of development packages. */
export function packedManifest(text) {
  const manifest = JSON.parse(text);
  for (const field of OF_A_CLONE) delete manifest[field];
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/**
 * A page of the package: links to what only a clone has lead to the repository; comments, such as the names of figures' constants,
 * stay in the clone.
 */
export function packedPage(page, text, { isPacked, homepage, version }) {
  const shown = text.replace(/^<!--.*-->\n|<!--.*?-->/gm, "");
  return shown.replace(/(?<=\]\()(?!https:|#)([^)#]+)/g, (link) => {
    const target = join(dirname(page), link);
    return isPacked(target) ? link : `${homepage}/blob/v${version}/${target}`;
  });
}
