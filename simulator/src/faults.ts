/** Faults of a call to the platform. */
const callEffects = ['refuse', 'fail', 'hang', 'reset', 'late', 'server_error', 'html', 'garbage'] as const
/** Faults of a file, when its metadata or its bytes are fetched. */
const fileEffects = ['expired', 'not_found', 'slow', 'wrong_size', 'wrong_type', 'wrong_hash', 'endless'] as const
export const faultEffects = [...callEffects, ...fileEffects] as const
/** `upload`: upload of a file; `media`: request for its address; `file`: download of its bytes. */
export const faultTargets = [
  ...([
    'send',
    'read',
    'templates',
    'template',
    'number',
    'webhook',
    'setup',
    'upload',
    'media',
    'file',
    'any',
  ] as const),
] as const

export interface Fault {
  id: string
  effect: (typeof faultEffects)[number]
  on: (typeof faultTargets)[number]
  /** Customer's digits or user id; null for everyone. */
  to: string | null
  /** Number of calls that the fault still affects; null for all. */
  times: number | null
  code: number
  /** Overrides the status that belongs to the code. */
  httpStatus: number | null
  /** Whether the platform accepts the message despite the fault. */
  accepts: boolean
  afterMs: number
}

export const maxFaults = 100

/** Returns the fault for this call and decrements its count; removes used-up faults. */
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
