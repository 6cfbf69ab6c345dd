import type { UploadLimits } from '../../data/inbox/types.ts'

/** How a voice message is recorded and sent. */
export interface RecordingPlan {
  /** MIME type for `MediaRecorder`. */
  record: string
  /** MIME type that is sent. */
  type: 'audio/ogg' | 'audio/mp4'
  extension: string
  kind: 'voice' | 'audio'
  /** Whether the audio is copied into another container. */
  isRepacked: boolean
}

type RecordingFormat = Omit<RecordingPlan, 'kind'>

// Formats that browsers record; those that need no remuxing first.
const formats: readonly RecordingFormat[] = [
  { record: 'audio/ogg;codecs=opus', type: 'audio/ogg', extension: 'ogg', isRepacked: false },
  { record: 'audio/webm;codecs=opus', type: 'audio/ogg', extension: 'ogg', isRepacked: true },
  { record: 'audio/mp4;codecs=mp4a.40.2', type: 'audio/mp4', extension: 'm4a', isRepacked: false },
]

/** Returns the format that the channel shows as a voice message, otherwise as audio; null without a common one. */
export function planFor(
  { kinds }: Pick<UploadLimits, 'kinds'>,
  canRecord: (type: string) => boolean,
): RecordingPlan | null {
  const able = formats.filter(({ record }) => canRecord(record))
  for (const kind of ['voice', 'audio'] as const) {
    const types = kinds.find((one) => one.kind === kind)?.types.map((type) => type.split(';')[0]?.trim()) ?? []
    const format = able.find(({ type }) => types.includes(type))
    if (format !== undefined) return { ...format, kind }
  }
  return null
}
