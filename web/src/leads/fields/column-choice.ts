import { type Column, isColumn, isCustom, type PlainColumn } from '../../shared/lead-view/conditions.ts'

/** Columns in their usual order, with their widths in pixels. */
const defaultWidths: Record<PlainColumn, number> = {
  name: 240,
  status: 128,
  phone: 156,
  assignedTo: 160,
  source: 120,
  priority: 104,
  estimatedValue: 128,
  createdAt: 120,
  labels: 200,
  email: 220,
  adPlatform: 104,
  actualValue: 120,
  notes: 280,
  uniqueCode: 148,
  externalRef: 148,
  updatedAt: 120,
}
export const columnIds = Object.keys(defaultWidths) as readonly PlainColumn[]

/** Visible columns in order; the name is always first. */
export interface ColumnChoice {
  shown: readonly Column[]
  widths: Readonly<Partial<Record<Column, number>>>
}

const minPx = 72
const maxPx = 640
const fieldPx = 160
export const defaultChoice: ColumnChoice = { shown: columnIds.slice(0, 8), widths: {} }

export const widthOf = ({ widths }: ColumnChoice, id: Column): number =>
  widths[id] ?? (isCustom(id) ? fieldPx : defaultWidths[id])

export const resizeColumn = (choice: ColumnChoice, id: Column, px: number): ColumnChoice => ({
  ...choice,
  widths: { ...choice.widths, [id]: Math.round(Math.min(maxPx, Math.max(minPx, px))) },
})

export const toggleColumn = (choice: ColumnChoice, id: Column): ColumnChoice => ({
  ...choice,
  shown: choice.shown.includes(id) ? choice.shown.filter((one) => one !== id) : [...choice.shown, id],
})

/** Moves a column to the position of another one. The name stays first. */
export function placeColumn(choice: ColumnChoice, id: Column, at: Column): ColumnChoice {
  if (id === 'name' || at === 'name' || id === at) return choice
  const to = choice.shown.indexOf(at)
  return { ...choice, shown: choice.shown.filter((one) => one !== id).toSpliced(to, 0, id) }
}

/** Formats columns for the address: `name,status,phone~180`. */
export const columnsText = ({ shown, widths }: ColumnChoice): string =>
  shown.map((id) => (widths[id] === undefined ? id : `${id}~${widths[id]}`)).join(',')

/** Parses columns from the address, dropping invalid ones. */
export function readColumns(text: string): ColumnChoice {
  const columns = text.split(',').map((one) => one.split('~'))
  const widths = columns.flatMap(([id, px]) => (px === undefined ? [] : [[id, Number(px)]]))
  return validChoice({ shown: columns.map(([id]) => id), widths: Object.fromEntries(widths) })
}

/** Parses a stored choice, dropping what is no longer valid. */
export function readChoice(text: string | null): ColumnChoice {
  try {
    return text === null ? defaultChoice : validChoice(JSON.parse(text))
  } catch {
    return defaultChoice
  }
}

function validChoice(kept: { shown?: unknown; widths?: unknown }): ColumnChoice {
  if (!Array.isArray(kept.shown)) return defaultChoice
  const shown = [...new Set(kept.shown)].filter((id) => typeof id === 'string' && isColumn(id) && id !== 'name')
  const widths = Object.entries(kept.widths ?? {}).filter(
    ([id, px]) => isColumn(id) && typeof px === 'number' && px >= minPx && px <= maxPx,
  )
  return { shown: ['name', ...shown], widths: Object.fromEntries(widths) }
}
