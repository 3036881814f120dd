import { buildPrograms } from "../../cluster/support/build";

export default () => buildPrograms();
