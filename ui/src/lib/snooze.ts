// The snooze choices of the menu, in the user's time zone.

/** The menu's choices at this time, each with its moment. */
export function snoozeChoices(now: number): { name: string; until: string }[] {
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  tomorrow.setHours(9, 0, 0, 0);
  return [
    { name: "15 minutes", until: at(now + 15 * 60_000) },
    { name: "1 hour", until: at(now + 60 * 60_000) },
    { name: "Until tomorrow, 9:00", until: at(tomorrow.getTime()) },
  ];
}

/** The next moment with this clock time ("14:30"); `undefined` if the text is no time. */
export function nextAt(clock: string, now: number): string | undefined {
  const match = /^(\d{1,2}):(\d{2})$/.exec(clock.trim());
  const [hours, minutes] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || hours > 23 || minutes > 59) return undefined;
  const when = new Date(now);
  when.setHours(hours, minutes, 0, 0);
  if (when.getTime() <= now) when.setDate(when.getDate() + 1);
  return at(when.getTime());
}

function at(ms: number): string {
  return new Date(ms).toISOString();
}
