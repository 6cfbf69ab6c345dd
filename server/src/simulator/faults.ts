/** What may go wrong with a call to the platform. */
export const faultEffects = ['refuse', 'fail', 'hang', 'reset', 'late', 'server_error', 'html', 'garbage'] as const
export const faultTargets = ['send', 'read', 'templates', 'number', 'webhook', 'any'] as const

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
    (fault) => (fault.on === on || fault.on === 'any') && (fault.to === null || recipient.includes(fault.to)),
  )
  const fault = faults[at]
  if (fault?.times === 1) faults.splice(at, 1)
  else if (fault?.times) fault.times -= 1
  return fault
}
