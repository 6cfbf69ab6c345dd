// Spreadsheets run cells that start like this as formulas, and some restart parsing within a cell. The skipped prefix
// excludes the characters that restart, so that no text is scanned twice.
const formula = /(^|[;\t\r\n])(?=[\p{Zs}\p{Cf}"']*[=＝﹦+＋﹢\-－﹣−@＠﹫])/gu

/** Returns a CSV file with all cells quoted, and without anything that spreadsheets would run. */
export function csvOf(rows: readonly (readonly (string | number)[])[]): string {
  return `\uFEFF${rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')}`
}

function cellOf(value: string | number): string {
  const text = typeof value === 'number' ? String(value) : value.replace(formula, "$1'")
  return `"${text.replaceAll('"', '""')}"`
}

/** Downloads a CSV file. */
export function saveCsv(name: string, rows: readonly (readonly (string | number)[])[]): void {
  const url = URL.createObjectURL(new Blob([csvOf(rows)], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.csv`
  link.click()
  URL.revokeObjectURL(url)
}
