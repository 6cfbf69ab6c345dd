import { IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { t } from '../../text/index.ts'
import { IconButton } from '../parts/IconButton.tsx'
import styles from './AudioMessage.module.css'
import { AudioTime, PlayButton, Seek, SpeedButton } from './AudioMessage.tsx'
import { stop, usePlayer } from './player.ts'

/** Player for audio that continues while another part is shown. */
export default function PlayerBar() {
  const playing = usePlayer()
  if (playing === null) return null
  const { track } = playing
  return (
    <section className={styles.bar} aria-label={t.media.player}>
      <PlayButton track={track} playing={playing} />
      <Link
        className={styles.title}
        to="/w/$workspaceId/inbox/{-$conversationId}"
        params={{ workspaceId: track.workspaceId, conversationId: track.conversationId }}
        hash={track.messageId}
        search={true}
        title={t.media.toMessage}
      >
        <bdi>{track.title}</bdi>
      </Link>
      <Seek track={track} playing={playing} waveform={null} />
      <AudioTime seconds={track.seconds} playing={playing} />
      <SpeedButton speed={playing.speed} />
      <IconButton icon={IconX} iconSize={16} label={t.media.stop} onClick={stop} />
    </section>
  )
}
