import type { UploadLimits } from '../../data/inbox/types.ts'

/** How a voice message is recorded, and as what it is sent. */
export interface RecordingPlan {
  /** For the browser's recorder. */
  record: string
  /** As what it is sent. */
  type: 'audio/ogg' | 'audio/mp4'
  ending: string
  kind: 'voice' | 'audio'
  /** The sound is put, as it is, into another container. */
  isRepacked: boolean
}

type RecordingFormat = Omit<RecordingPlan, 'kind'>

// What browsers record, the container that needs no work first.
const formats: readonly RecordingFormat[] = [
  { record: 'audio/ogg;codecs=opus', type: 'audio/ogg', ending: 'ogg', isRepacked: false },
  { record: 'audio/webm;codecs=opus', type: 'audio/ogg', ending: 'ogg', isRepacked: true },
  { record: 'audio/mp4;codecs=mp4a.40.2', type: 'audio/mp4', ending: 'm4a', isRepacked: false },
]

/** The way whose result the channel shows as spoken, else as any sound; null when the browser and the channel share none. */
export function planFor(
  { kinds }: Pick<UploadLimits, 'kinds'>,
  canRecord: (type: string) => boolean,
): RecordingPlan | null {
  const able = formats.filter(({ record }) => canRecord(record))
  for (const kind of ['voice', 'audio'] as const) {
    const types = kinds.find((one) => one.kind === kind)?.types.map((type) => type.split(';')[0]?.trim()) ?? []
    const way = able.find(({ type }) => types.includes(type))
    if (way !== undefined) return { ...way, kind }
  }
  return null
}
