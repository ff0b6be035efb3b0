// SPDX-License-Identifier: MIT
// The page of a clash report: the viewer with the panel of report.js, which must be there first.
import { reportPanel } from "./report.js";
import { special } from "./panel.js";
import {} from "./main.js";
