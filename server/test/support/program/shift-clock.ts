// Loaded before a program: shifts its clock ahead of the machine's by this many milliseconds.
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
