// npm run docs:doctor: writes the checks into docs/doctor.md, below what is written by hand.
import { readFileSync, writeFileSync } from "node:fs";
import { checkSections, GENERATED } from "./doctor-page";

const [byHand = ""] = readFileSync("docs/doctor.md", "utf8").split(GENERATED);
writeFileSync("docs/doctor.md", byHand + GENERATED + checkSections());
