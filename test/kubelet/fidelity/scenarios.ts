import type { Scenario } from "./scenario";
import { drivers } from "./scenarios/drivers";
import { files } from "./scenarios/files";
import { life } from "./scenarios/life";
import { refusals } from "./scenarios/refusals";
import { registrars } from "./scenarios/registrars";

export const scenarios: readonly Scenario[] = [...life, ...files, ...refusals, ...drivers, ...registrars];
