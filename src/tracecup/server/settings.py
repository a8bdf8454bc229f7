"""Django's settings of the contest server; everything that differs comes from `config`.

Nothing here is to be edited for a deployment: set environment variables instead.
"""

from __future__ import annotations

from pathlib import Path

from tracecup.server.config import ServerConfig

CONFIG = ServerConfig.of_environment()
HERE = Path(__file__).parent
FEATURES = (
    "web",
    "people",
    "teams",
    "submissions",
    "results",
    "organising",
    "lessons",
    "site",
)

SECRET_KEY = CONFIG.secret_key()
DEBUG = False
ALLOWED_HOSTS = list(CONFIG.hosts)
ROOT_URLCONF = "tracecup.server.urls"
WSGI_APPLICATION = "tracecup.server.wsgi.application"
AUTH_USER_MODEL = "server.Person"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "tracecup.server.apps.ServerApp",
]

MIDDLEWARE = [
    "tracecup.server.web.middleware.Boundary",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "tracecup.server.web.middleware.Visitor",
    "tracecup.server.people.presence.Presence",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "DIRS": [HERE / feature / "templates" for feature in FEATURES],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "tracecup.server.web.context.site",
            ],
        },
    }
]

DATABASES = {"default": CONFIG.database}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ja", "日本語")]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = None  # files are served from the package itself
WHITENOISE_USE_FINDERS = True

# Uploads go to disk while they arrive; nothing large is held in memory.
FILE_UPLOAD_HANDLERS = ["tracecup.server.web.formfiles.LandedFiles"]
FILE_UPLOAD_TEMP_DIR = str(CONFIG.incoming) if CONFIG.incoming.is_dir() else None
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 2

SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CONFIG.secure
CSRF_COOKIE_SECURE = CONFIG.secure
CSRF_COOKIE_HTTPONLY = False
CSRF_TRUSTED_ORIGINS = [CONFIG.site_url] if CONFIG.site_url else []
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Sent over TLS only. Not for names below ours: they may be somebody else's.
SECURE_HSTS_SECONDS = 365 * 86400 if CONFIG.secure else 0
if CONFIG.proxied:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

globals().update(CONFIG.mail)
DEFAULT_FROM_EMAIL = CONFIG.mail_from

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": "tracecup.server.logs.JsonLines"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {"django.request": {"level": "ERROR"}},
}
