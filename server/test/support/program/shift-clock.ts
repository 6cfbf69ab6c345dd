// Loaded before a program: its clock goes as fast as the machine's, so many milliseconds ahead of it.
const aheadMs = Number(process.env.TEST_CLOCK_AHEAD_MS)
const MachineDate = Date

class ShiftedDate extends MachineDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [ShiftedDate.now()] : given) as [number]))
  }

  static override now(): number {
    return MachineDate.now() + aheadMs
  }
}

globalThis.Date = ShiftedDate as DateConstructor
