const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A size for people: three digits at most. */
export const bytesText = (bytes: number): string => {
  const place = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** place;
  return `${place === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[place]}`;
};
