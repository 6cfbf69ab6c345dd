import { CloseButton } from '@mantine/core'
import { useState } from 'react'
import type { UploadLimits } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import type { Attachment } from './attachment.ts'
import { Recorder } from './Recorder.tsx'
import type { RecordingProblem } from './record.ts'
import tray from './Tray.module.css'

interface VoiceRecordingProps {
  isRecording: boolean
  limits: UploadLimits | undefined
  onEnded(recorded: Attachment | null): void
}

/** Voice recorder, or the reason why it is unavailable. */
export default function VoiceRecording({ isRecording, limits, onEnded }: VoiceRecordingProps) {
  const [problem, setProblem] = useState<RecordingProblem | null>(null)
  // Clears the error of the previous attempt.
  if (isRecording && problem !== null) setProblem(null)
  if (isRecording && limits !== undefined) {
    const failed = (why: RecordingProblem) => {
      onEnded(null)
      setProblem(why)
    }
    return <Recorder limits={limits} onEnded={onEnded} onFailed={failed} />
  }
  if (problem === null) return null
  return (
    <div className={tray.refused} role="alert">
      <p>{t.files.voice.problems[problem]}</p>
      <CloseButton size="sm" c="inherit" aria-label={t.common.close} onClick={() => setProblem(null)} />
    </div>
  )
}
