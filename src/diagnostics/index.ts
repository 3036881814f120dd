export { createRoutes } from "./routes";
export { startDiagnosticsServer } from "./server";
