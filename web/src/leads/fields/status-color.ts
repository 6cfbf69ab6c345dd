import type { Priority } from '../../data/leads.ts'
import type { Tone } from '../../ui/Chip.tsx'

const statusTones: Record<string, Tone> = { new: 'accent', won: 'good', lost: 'bad' }
/** Returns the color of a status; plain for statuses that the workspace added. */
export const statusTone = (status: string): Tone => statusTones[status] ?? 'plain'

const priorityTones: Partial<Record<Priority, Tone>> = { urgent: 'bad', high: 'attention' }
export const priorityTone = (priority: Priority): Tone => priorityTones[priority] ?? 'plain'
