export interface Refusal {
  host: string
  /** To be read behind the host's name. */
  reason: string
}

/** No host of the address would do at the moment: later, or another time, one may. */
export class NoDatabase extends Error {
  readonly code = 'NO_DATABASE'
  readonly refusals: readonly Refusal[]

  constructor(refusals: readonly Refusal[]) {
    super(refusals.map(({ host, reason }) => `${host}: ${reason}`).join('; '))
    this.refusals = refusals
  }
}
