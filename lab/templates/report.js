"use strict";
// The page reads without this script. It makes the table of trials when it is asked for, and offers them as a file.
const data = document.getElementById("trials-csv");

// RFC 4180: quoted cells may hold commas, doubled quotes and line ends.
function parse(csv) {
  const rows = [[]];
  for (const [, separator, quoted, plain] of csv.trimEnd().matchAll(/(^|,|\r?\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)) {
    if (separator.endsWith("\n")) rows.push([]);
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
  }
  return rows;
}

function tableOf([titles, ...rows]) {
  const kept = titles.map((_, i) => rows.some((row) => row[i] !== ""));
  const numeric = titles.map((_, i) => rows.every((row) => row[i] === "" || !Number.isNaN(Number(row[i]))));
  const table = document.createElement("table");
  table.createCaption().textContent = "Every trial, in run order";
  const line = (parent, cells, tag) => {
    const row = parent.insertRow();
    cells.forEach((text, i) => {
      if (!kept[i]) return;
      const cell = document.createElement(tag ?? (i === 0 ? "th" : "td"));
      cell.textContent = text;
      if (tag || i === 0) cell.scope = tag ? "col" : "row";
      if (numeric[i]) cell.className = "n";
      row.append(cell);
    });
  };
  line(table.createTHead(), titles, "th");
  const body = table.createTBody();
  rows.forEach((row) => line(body, row));
  const group = document.createElement("div");
  group.className = "wide";
  group.tabIndex = 0;
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Table of trials");
  group.append(table);
  return group;
}

if (data) {
  const folded = document.getElementById("trials-table");
  folded.addEventListener("toggle", () => folded.append(tableOf(parse(data.textContent))), { once: true });
  const button = document.getElementById("download");
  button.hidden = false;
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([data.textContent], { type: "text/csv" }));
    link.download = "trials.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
