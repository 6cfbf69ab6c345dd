import { type Problem, problemOf, type Template } from './template-preview.ts'

/** Values of a template besides those of its body, as entered. */
export interface InputValues {
  headerText: string
  location: { latitude: string; longitude: string; name: string; address: string }
  buttons: readonly string[]
}

export const noInputs: InputValues = {
  headerText: '',
  location: { latitude: '', longitude: '', name: '', address: '' },
  buttons: [],
}

export type InputProblem = Problem | 'number' | 'url' | 'code'

/** Longest code of a button, as the platform shows it. */
const maxCodeLength = 20

interface InputProblems {
  headerText: InputProblem | null
  latitude: InputProblem | null
  longitude: InputProblem | null
  buttons: readonly (InputProblem | null)[]
}

/** Returns what is wrong with the values that a template needs; null where nothing is wrong or needed. */
export function inputProblems({ inputs }: Pick<Template, 'inputs'>, values: InputValues): InputProblems {
  const { latitude, longitude } = values.location
  const hasPlace = inputs?.headerLocation ?? false
  return {
    headerText: inputs?.headerText == null ? null : problemOf(values.headerText),
    latitude: hasPlace ? degreesProblem(latitude, 90) : null,
    longitude: hasPlace ? degreesProblem(longitude, 180) : null,
    buttons: (inputs?.buttons ?? []).map(({ type }, n) => buttonProblem(type, values.buttons[n] ?? '')),
  }
}

export const hasInputProblem = ({ headerText, latitude, longitude, buttons }: InputProblems): boolean =>
  [headerText, latitude, longitude, ...buttons].some((problem) => problem !== null)

function degreesProblem(value: string, most: number): InputProblem | null {
  const degrees = Number(value.trim().replace(',', '.'))
  if (value.trim() === '') return 'empty'
  return Number.isFinite(degrees) && Math.abs(degrees) <= most ? null : 'number'
}

function buttonProblem(type: 'url' | 'copy_code' | 'otp', value: string): InputProblem | null {
  // The code of the body.
  if (type === 'otp') return null
  const problem = problemOf(value)
  if (problem !== null) return problem
  if (type === 'url') return /\s/.test(value.trim()) ? 'url' : null
  return value.trim().length > maxCodeLength ? 'code' : null
}

/** Returns the fields of a send for the values that a template needs; `code` is the first value of its body. */
export function inputFields(
  { inputs }: Pick<Template, 'inputs'>,
  { headerText, location, buttons }: InputValues,
  code: string | undefined,
) {
  const valueAt = (type: string, n: number) => (type === 'otp' ? code : buttons[n]) ?? ''
  const degrees = (value: string) => Number(value.trim().replace(',', '.'))
  const { latitude, longitude, name, address } = location
  const words = { ...(name.trim() && { name: name.trim() }), ...(address.trim() && { address: address.trim() }) }
  const place = { latitude: degrees(latitude), longitude: degrees(longitude), ...words }
  const needed = inputs?.buttons ?? []
  return {
    ...(inputs?.headerText != null && { header_param: headerText.trim() }),
    ...(inputs?.headerLocation && { header_location: place }),
    ...(needed.length > 0 && { button_params: needed.map(({ type }, n) => valueAt(type, n).trim()) }),
  }
}
