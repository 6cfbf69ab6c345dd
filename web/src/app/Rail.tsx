import { UnstyledButton } from '@mantine/core'
import { IconBell, IconCommand, IconSearch } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { mayIn, useSession } from '../session/session.ts'
import { t, withTexts } from '../text/index.ts'
import { Avatar } from '../ui/Avatar.tsx'
import { type Drop, Dropped, dropButton, useDrop } from '../ui/overlay/drop.tsx'
import { later } from '../ui/overlay/later.ts'
import { Tip } from '../ui/overlay/Tip.tsx'
import { type Badge, useRailBadge, useRailCount } from '../ui/rail-badges.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Rail.module.css'
import { type Room, rooms } from './rooms.ts'

const BellPanel = later(() => withTexts(() => import('../told/BellPanel.tsx')))
const MeItems = later(() => import('./MeItems.tsx'))

interface RailProps {
  bell: Drop
  openPalette(): void
  openKeys(): void
}

/** Down the side; on a phone along the lower edge, where the rooms that set things up are behind one's own face. */
export function Rail({ bell, openPalette, openKeys }: RailProps) {
  const workspaceId = useWorkspaceId()
  const isPhone = useIsPhone()
  const PaletteIcon = isPhone ? IconSearch : IconCommand
  const open = rooms.filter(({ role }) => mayIn(workspaceId, role))
  const setup = open.filter(({ place }) => place === 'setup')
  const links = (of: readonly Room[]) => of.map((room) => <RailLink key={room.path} room={room} />)
  return (
    <nav className={styles.rail} aria-label={t.common.mainNavigation}>
      <div className={styles.group}>{links(open.filter(({ place }) => place === 'day'))}</div>
      <div className={styles.group} data-last>
        <Tip label={`${t.common.palette.label} (Ctrl K)`} position="right">
          <UnstyledButton className={styles.link} onClick={openPalette} aria-label={t.common.palette.label}>
            <PaletteIcon size={20} stroke={1.6} />
          </UnstyledButton>
        </Tip>
        <Bell drop={bell} />
        {!isPhone && links(setup)}
        <MeMenu setup={isPhone ? setup : none} openKeys={openKeys} />
      </div>
    </nav>
  )
}

const none: readonly Room[] = []

function RailLink({ room: { path, title, icon: Icon } }: { room: Room }) {
  const badge = useRailBadge(path)
  const label = title()
  return (
    <Tip label={label} position="right">
      <Link
        to={`/w/$workspaceId/${path}` as '/w/$workspaceId/home'}
        params={(before) => before as { workspaceId: string }}
        className={styles.link}
        activeProps={{ 'data-active': true } as object}
        activeOptions={{ exact: false, includeSearch: false }}
        aria-label={badge === null ? label : `${label}: ${badge.label}`}
      >
        <Icon size={20} stroke={1.6} />
        <span className={styles.name}>{label}</span>
        {badge !== null && <Dot badge={badge} />}
      </Link>
    </Tip>
  )
}

function Dot({ badge }: { badge: Badge }) {
  return (
    <span className={styles.dot} data-tone={badge.tone} aria-hidden="true">
      {shownCount(badge.count)}
    </span>
  )
}

const shownCount = (count: number): string => (count > 99 ? '99+' : String(count))

/** What one was told of. */
function Bell({ drop }: { drop: Drop }) {
  const badge = useRailBadge('told')
  const label = t.common.notifications
  return (
    <>
      <Tip label={label} position="right">
        <UnstyledButton
          {...dropButton(drop, 'dialog')}
          className={styles.link}
          aria-label={badge === null ? label : `${label}: ${badge.label}`}
        >
          <IconBell size={20} stroke={1.6} />
          {badge !== null && <Dot badge={badge} />}
        </UnstyledButton>
      </Tip>
      <Dropped drop={drop}>
        <BellPanel drop={drop} />
      </Dropped>
    </>
  )
}

interface MeMenuProps {
  /** The rooms that have no place of their own at the rail. */
  setup: readonly Room[]
  openKeys(): void
}

function MeMenu({ setup, openKeys }: MeMenuProps) {
  const { name = '' } = useSession().user ?? {}
  const trouble = useRailCount(setup.map(({ path }) => path))
  const [isOpen, setOpen] = useState(false)
  const drop = useDrop(isOpen, setOpen)
  const me = `${t.common.me}: ${name}`
  const label = trouble > 0 ? `${me}. ${t.common.toLookAt({ n: shownCount(trouble) })}` : me
  return (
    <>
      <UnstyledButton {...dropButton(drop, 'menu')} className={styles.link} aria-label={label}>
        <Avatar name={name} size={28} />
        {trouble > 0 && <Dot badge={{ count: trouble, tone: 'bad', label: '' }} />}
      </UnstyledButton>
      <Dropped drop={drop}>
        <MeItems drop={drop} setup={setup} openKeys={openKeys} />
      </Dropped>
    </>
  )
}
