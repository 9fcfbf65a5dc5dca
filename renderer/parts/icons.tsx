/** The few drawn signs of the window. All are decoration: the words beside them carry the meaning. */
interface IconProps {
  size?: number;
}

function Sign({ path, size = 16 }: IconProps & { path: string }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={path} />
    </svg>
  );
}

export const HomeIcon = (props: IconProps) => <Sign path="M2.5 7.5 8 3l5.5 4.5M4 6.8V13h8V6.8" {...props} />;
export const SessionsIcon = (props: IconProps) => <Sign path="M2.5 3.5h11v7h-6L4.5 13v-2.5h-2z" {...props} />;
export const GuardIcon = (props: IconProps) => <Sign path="M8 2.2 13 4v3.8c0 3-2 5.1-5 6-3-.9-5-3-5-6V4z" {...props} />;
export const CleanIcon = (props: IconProps) => (
  <Sign path="M9.5 2.5 7 8M4.5 7.8l5 2.2-1.8 3.5H2.5c1.3-1.4 2-3.4 2-5.7zM12 9.5h0M13.5 12h0M11 13.3h0" {...props} />
);
export const RunsIcon = (props: IconProps) => <Sign path="M2.5 2.5v11h11M5 10.5l2.5-3 2 1.5 3.5-4.5" {...props} />;
export const AdaptersIcon = (props: IconProps) => (
  <Sign path="M8 2.5 13.5 5 8 7.5 2.5 5zM2.5 8 8 10.5 13.5 8M2.5 11 8 13.5l5.5-2.5" {...props} />
);
export const ConnectIcon = (props: IconProps) => (
  <Sign path="M6 2.5v3M10 2.5v3M4 5.5h8v2.5a4 4 0 0 1-8 0zM8 12v2" {...props} />
);
export const RecordingIcon = (props: IconProps) => (
  <Sign path="M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4" {...props} />
);
export const ThemeIcon = (props: IconProps) => (
  <Sign path="M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11" {...props} />
);
export const KeyboardIcon = (props: IconProps) => (
  <Sign path="M1.5 4.5h13v7h-13zM4 7h0M6.7 7h0M9.3 7h0M12 7h0M5 9.3h6" {...props} />
);
export const SearchIcon = (props: IconProps) => (
  <Sign path="M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3.3 3.3" {...props} />
);

/** A hook on a board: where tack hangs. */
export function Mark() {
  return (
    <svg className="mark" width="20" height="20" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M8 25V14a8 8 0 0 1 16 0v11" />
      <circle cx="16" cy="14" r="2.2" />
    </svg>
  );
}
