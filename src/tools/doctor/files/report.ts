import { invalidOption, refuse } from "../../../base/errors";
import { HAS_OFFICIAL_NAME, hasName, lastPart } from "../../recognise/image";
import type { OurImage } from "../../recognise/program";
import { holds, isTemplate } from "../../recognise/rule";
import { check, unknown } from "../findings/finding";
import { gapsOf, tell, trueOrNull } from "../findings/opened";
import { findingsOf, findingsOfAll, reportOf } from "../findings/report";
import { withheld } from "../findings/seen";
import { renderReport, type TableLook } from "../findings/table";
import { namedText, shellWord } from "../findings/words";
import { manifestArguments } from "./judge/arguments";
import { MANIFEST_CHECKS, STREAM_CHECKS } from "./judge/checks";
import { manifestReadable, sayWhyOfFile } from "./judge/gaps";
import type { FilesRead } from "./read/documents";
import { type FilesAndGaps, readRegistrars } from "./read/registrars";
import { commandWithout, judgeSwap, readSwap, whatElse } from "./swap";

/** Judges the objects in files. Throws INVALID_OPTION for files without a registrar. */
export function reportOnFiles(read: FilesRead, ours: OurImage) {
  const checks = [...MANIFEST_CHECKS, ...STREAM_CHECKS];
  const report = reportOf({ files: read.files }, findingsOfAll(checks, factsOf(read, ours)));
  return { report, render: (look: TableLook) => renderReport(report, look, { isBySubject: true }) };
}

/**
 * `swap` is the image that takes the official one's place; empty: any of ours. `ours.image` names another image whose place it
 * takes, as the policy's `--match-image` does. Throws as {@link reportOnFiles} does.
 */
export function reportOnSwap(read: FilesRead, ours: OurImage, swap: string) {
  const { files } = read;
  const both = readSwap((images) => factsOf(read, images), ours, swap);
  const { before } = both;
  const { findings, ...counts } = judgeSwap(both, MANIFEST_CHECKS);
  const isAny = trueOrNull(both.swapped.contains());
  // What an unknown program is, is said of its container.
  const isSaid = findings.some(({ code, status }) => code === manifestArguments.code && status === "unknown");
  const { image } = ours;
  const isCommand = isAny === true && image !== undefined && swap !== "";
  const policy = isCommand ? policyCommand(image, swap, before) : null;
  const more = isAny === false && !isSaid ? findingsOf([nothingToSwap], { ...read, ...before }) : [];
  const target = { files, swap, policy, ...counts };
  const report = reportOf(target, [...findings, ...more]);
  // It would have to read stdin again.
  const words = files.map((file) => `-f ${shellWord(file)}`);
  const again = files.includes("-") ? undefined : commandWithout(swap, image, words);
  const next = [
    ...whatElse(counts.problemsWithEither, again),
    ...(policy === null ? [] : [{ fix: "To swap them in a cluster", command: policy }]),
  ];
  const layout = { isBySubject: true, swapped: target, next };
  return { report, render: (look: TableLook) => renderReport(report, look, layout) };
}

/** The image policy knows the official image's names. Null: other containers have, or may have, an image of this name, too. */
function policyCommand(image: string, swap: string, { otherImages }: FilesAndGaps): string | null {
  const name = lastPart(image);
  const command = `registrar manifest --image-policy --image=${swap}`;
  if (holds(HAS_OFFICIAL_NAME, { image })) return command;
  const isShared = otherImages
    .map(tell<string>)
    .contains((image) => isTemplate(image) || holds(hasName([name]), { image }));
  return trueOrNull(isShared) === false ? `${command} --match-image=${name}` : null;
}

function factsOf(read: FilesRead, ours: OurImage): FilesAndGaps {
  const [gap] = gapsOf(read.objects.contains());
  if (gap !== undefined) {
    const { text, fix } = sayWhyOfFile(gap.why);
    throw invalidOption(`cannot read ${namedText(gap.subject)}: ${text}; ${fix}`);
  }
  const facts = readRegistrars(read, ours);
  if (trueOrNull(facts.registrars.contains()) === false)
    refuse(
      "no registrar in these files: no container has --kubelet-registration-path, or a known image that starts a registrar; if one is this registrar's, name its image with --image=IMAGE; registrar doctor --cluster judges what an operator creates",
    );
  return facts;
}

const nothingToSwap = check(
  manifestReadable.code,
  manifestReadable.name,
  ({ files, registrars }: FilesRead & FilesAndGaps) => {
    const text = "has nothing to swap: no container for Linux has the official registrar's image";
    const give = "give files that have the official registrar";
    return registrars
      .contains(({ isForWindows }) => isForWindows.not())
      .say({
        yes: () => unknown(files.join(", "), text, `${give}, or name its image with --image=IMAGE`),
        no: () => unknown(files.join(", "), text, `${give} for Linux`),
        unknown: withheld,
      });
  },
);
