import { UnstyledButton } from '@mantine/core'
import { IconCommand } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { t } from '../text/index.ts'
import { Avatar } from '../ui/Avatar.tsx'
import { Dropped, dropButton, useDrop } from '../ui/drop.tsx'
import { later } from '../ui/later.ts'
import { type Badge, useRailBadge } from '../ui/rail-badges.ts'
import { Tip } from '../ui/Tip.tsx'
import styles from './Rail.module.css'
import { type Room, rooms } from './rooms.ts'
import { mayIn, useSession } from './session.ts'

const MeItems = later(() => import('./MeItems.tsx'))

interface RailProps {
  workspaceId: string
  openPalette(): void
  openKeys(): void
}

export function Rail({ workspaceId, openPalette, openKeys }: RailProps) {
  const open = rooms.filter(({ role }) => mayIn(workspaceId, role))
  const links = (place: Room['place']) =>
    open.filter((room) => room.place === place).map((room) => <RailLink key={room.path} room={room} />)
  return (
    <nav className={styles.rail} aria-label={t.common.mainNavigation}>
      <div className={styles.group}>{links('day')}</div>
      <div className={styles.group} data-last>
        <Tip label={`${t.common.palette.label} (Ctrl K)`} position="right">
          <UnstyledButton className={styles.link} onClick={openPalette} aria-label={t.common.palette.label}>
            <IconCommand size={20} stroke={1.6} />
          </UnstyledButton>
        </Tip>
        {links('setup')}
        <MeMenu workspaceId={workspaceId} openKeys={openKeys} />
      </div>
    </nav>
  )
}

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
      {badge.count > 99 ? '99+' : badge.count}
    </span>
  )
}

function MeMenu({ workspaceId, openKeys }: { workspaceId: string; openKeys(): void }) {
  const { name = '' } = useSession().user ?? {}
  const [isOpen, setOpen] = useState(false)
  const drop = useDrop(isOpen, setOpen)
  return (
    <>
      <UnstyledButton {...dropButton(drop, 'menu')} className={styles.link} aria-label={`${t.common.me}: ${name}`}>
        <Avatar name={name} size={28} />
      </UnstyledButton>
      <Dropped drop={drop}>
        <MeItems drop={drop} workspaceId={workspaceId} openKeys={openKeys} />
      </Dropped>
    </>
  )
}
