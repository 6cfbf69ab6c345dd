import { t } from '../text/index.ts'
import { Chip, type Tone } from '../ui/Chip.tsx'

const statusTones: Record<string, Tone> = { APPROVED: 'good', REJECTED: 'bad', DISABLED: 'bad', PAUSED: 'attention' }
const qualityTones = { GREEN: 'good', YELLOW: 'attention', RED: 'bad' } as const

export function statusText(status: string): string {
  const words: Record<string, string> = t.connections.templates.statuses
  return words[status] ?? status
}

export function categoryText(category: string): string {
  const words: Record<string, string> = t.templates.categories
  return words[category] ?? category
}

export const StatusChip = ({ status }: { status: string }) => (
  <Chip tone={statusTones[status] ?? 'plain'}>{statusText(status)}</Chip>
)

export function QualityChip({ quality }: { quality: keyof typeof qualityTones | null }) {
  if (quality === null) return <>{t.templates.noQuality}</>
  return <Chip tone={qualityTones[quality]}>{t.templates.qualities[quality]}</Chip>
}
