/** The system's keychain behind the vault's key: Electron's safeStorage. */
import { safeStorage } from 'electron';
import type { Keychain } from '../vault/wrapping-key.js';

export const systemKeychain: Keychain = {
  available() {
    if (!safeStorage.isEncryptionAvailable()) return false;
    // Without a keyring Linux falls back to a password that everybody knows.
    return process.platform !== 'linux' || safeStorage.getSelectedStorageBackend() !== 'basic_text';
  },
  seal: (text) => safeStorage.encryptString(text),
  open: (sealed) => safeStorage.decryptString(sealed),
};
