/** What may go wrong with a call to the platform. */
const callEffects = ['refuse', 'fail', 'hang', 'reset', 'late', 'server_error', 'html', 'garbage'] as const
/** What may go wrong with a file, where it is told of or where it is fetched. */
const fileEffects = ['expired', 'not_found', 'slow', 'wrong_size', 'wrong_type', 'wrong_hash', 'endless'] as const
export const faultEffects = [...callEffects, ...fileEffects] as const
/** `upload`: a file is given; `media`: its address is asked for; `file`: it is fetched. */
export const faultTargets = [
  ...(['send', 'read', 'templates', 'number', 'webhook', 'upload', 'media', 'file', 'any'] as const),
] as const

export interface Fault {
  id: string
  effect: (typeof faultEffects)[number]
  on: (typeof faultTargets)[number]
  /** The customer's digits or user id; null for everyone. */
  to: string | null
  /** How many calls it still meets; null for all. */
  times: number | null
  code: number
  /** Overrides the status that belongs to the code. */
  httpStatus: number | null
  /** Whether the platform took the message all the same. */
  accepts: boolean
  afterMs: number
}

export const maxFaults = 100

/** The fault that meets this call, counted down; faults that are used up go. */
export function takeFault(faults: Fault[], on: Fault['on'], recipient: readonly (string | null)[]): Fault | undefined {
  const at = faults.findIndex(
    (fault) =>
      (fault.on === on || (fault.on === 'any' && (isOfFiles(on) || !isFileEffect(fault.effect)))) &&
      (fault.to === null || recipient.includes(fault.to)),
  )
  const fault = faults[at]
  if (fault?.times === 1) faults.splice(at, 1)
  else if (fault?.times) fault.times -= 1
  return fault
}

export const isFileEffect = (effect: Fault['effect']): boolean => (fileEffects as readonly string[]).includes(effect)
const isOfFiles = (on: Fault['on']): boolean => on === 'media' || on === 'file'
